CREATE TABLE "coverage_changes" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"installation_id" bigint NOT NULL,
	"repository_id" bigint NOT NULL,
	"at" timestamptz(3) NOT NULL,
	"kind" text COLLATE "C" NOT NULL,
	CONSTRAINT "coverage_changes_org_id_installation_id_repository_id_at_kind_pk" PRIMARY KEY("org_id","installation_id","repository_id","at","kind")
);
--> statement-breakpoint
CREATE TABLE "github_apps" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"app_id" bigint NOT NULL,
	"slug" text COLLATE "C" NOT NULL,
	"owner_login" text COLLATE "C",
	"html_url" text COLLATE "C" NOT NULL,
	"api_url" text COLLATE "C" NOT NULL,
	"sealed" text COLLATE "C" NOT NULL,
	"created_at" timestamptz(3) NOT NULL,
	CONSTRAINT "github_apps_org_id_pk" PRIMARY KEY("org_id")
);
--> statement-breakpoint
CREATE TABLE "github_passes" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"repository_id" bigint NOT NULL,
	"installation_id" bigint NOT NULL,
	"watermark" timestamptz(3),
	"phase" text COLLATE "C" DEFAULT 'idle' NOT NULL,
	"page" integer DEFAULT 1 NOT NULL,
	"stop_at" timestamptz(3),
	"reach_at" timestamptz(3),
	"started_at" timestamptz(3),
	"finished_at" timestamptz(3),
	"due_at" timestamptz(3) NOT NULL,
	"pulls" integer DEFAULT 0 NOT NULL,
	"reviews" integer DEFAULT 0 NOT NULL,
	"failure" text COLLATE "C",
	CONSTRAINT "github_passes_org_id_repository_id_pk" PRIMARY KEY("org_id","repository_id")
);
--> statement-breakpoint
CREATE TABLE "github_turns" (
	"org_id" text COLLATE "C" DEFAULT 'default' NOT NULL,
	"name" text COLLATE "C" NOT NULL,
	"holder" uuid,
	"busy_until" timestamptz(3),
	"done_at" timestamptz(3),
	"wait_until" timestamptz(3),
	CONSTRAINT "github_turns_org_id_name_pk" PRIMARY KEY("org_id","name")
);
--> statement-breakpoint
CREATE INDEX "coverage_changes_repository" ON "coverage_changes" USING btree ("org_id","repository_id");