/**
 * SQL for the present name of the repository that is called `name`, in any case: of one that has it now or, if none has, of
 * the one that had it last; null: it is not known.
 */
export const presentName = (name: string, org: string): string => `(
  select w.full_name from repositories w
  where w.org_id = ${org} and (lower(w.full_name) = lower(${name}) or lower(w.former_names::text)::jsonb ? lower(${name}))
  order by lower(w.full_name) = lower(${name}) desc, w.changed_at desc limit 1)`;
