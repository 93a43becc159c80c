CREATE TABLE "github_app_reports" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"report" jsonb NOT NULL,
	"seen_at" timestamptz(3) NOT NULL,
	"reported_at" timestamptz(3) NOT NULL,
	"asked_at" timestamptz(3),
	"secret_asked_at" timestamptz(3),
	CONSTRAINT "github_app_reports_org_id_pk" PRIMARY KEY("org_id")
);
--> statement-breakpoint
CREATE TABLE "waiting_merges" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"repository_id" bigint NOT NULL,
	"number" integer NOT NULL,
	"author_login" text COLLATE "C",
	"session" text COLLATE "C" NOT NULL,
	"merged_at" timestamptz(3) NOT NULL,
	CONSTRAINT "waiting_merges_org_id_repository_id_number_pk" PRIMARY KEY("org_id","repository_id","number")
);
