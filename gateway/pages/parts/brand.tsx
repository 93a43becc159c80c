import { Link } from "@tanstack/react-router";

/** The name and its sign, which open the start. */
export const Brand = () => (
  <Link to="/" className="brand">
    <svg viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="7" fill="#3b4cca" />
      <path
        d="M9 9v14M14 9v14M19 9v14M24 9v14M6 21 27 11"
        stroke="#fff"
        strokeWidth="2.4"
        strokeLinecap="round"
      />
    </svg>
    Tallygate
  </Link>
);
