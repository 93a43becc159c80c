import type { SessionId } from "#shared/labels.ts";
import type { Finding } from "../print/finding.ts";
import type { Homes } from "./homes.ts";
import type { KeyCommand } from "./key-command.ts";

export type Gateway = { url: string; key: string };

/** A checkout, whose own settings count too. */
export type Checkout = { directory: string; git(...words: string[]): Promise<string | null> };

/** What a coding agent needs from us, and how it takes it. Each agent has one file beside this one. */
export type Agent = {
  /** Its name, as its maker writes it. */
  title: string;
  /** The program's name, and its package's when a runner such as npx starts it. */
  names: readonly string[];
  /** Whether it can send its own credential beside a client key. */
  subscription?: true;
  /** Its variables mean something to other programs, so only the agent itself gets them, and no shell. */
  alone?: true;
  /** Variables in which it passes its own session to child processes, most specific first. */
  sessionVariables?: readonly string[];
  /** The directory of its user's settings: if it exists, the agent is used here. */
  directory(homes: Homes): string;
  /** What points it to the gateway and puts `x-session-id` on every call. */
  run(it: Run): Additions | Promise<Additions>;
  /** Where its own settings send its calls: those in force in a checkout or, with null, only its user's. */
  settings(homes: Homes, place: Checkout | null): Promise<AgentSettings>;
  /** How it is always led to a gateway by hand: what its user does. */
  lead(url: string): string;
  /** Its own settings lead it to the gateway, which `tallygate run` cannot. */
  isLedBySettings?: true;
  /** The stamping hook, which `install` adds. */
  hook: HookFile;
  /** How `install` leads it to the gateway of `tallygate login`. */
  gateway: GatewayFile | ShellFunction;
  /** A file that an administrator puts on an organisation's machines. */
  managed?: ManagedFile;
  /** For an agent that runs a hook only after its user has agreed to it. */
  agreement?: Agreement;
  /** What `doctor` looks at besides. */
  check?(homes: Homes, directory: string): Promise<Finding>;
};

export type Run = {
  session: SessionId;
  /** The user and the environment that the agent will have. */
  homes: Homes;
  directory: string;
  /** The agent's own arguments; null for another command, such as a shell, which may start it. */
  words: readonly string[] | null;
  /** The gateway's address and a client key; null: the agent is configured already, and only the label is added. */
  gateway: Gateway | null;
  /** Whether the caller's own subscription pays, and nothing else may: the key is sent alongside its credential. */
  subscription: boolean;
};

export type Additions = {
  env?: Readonly<Record<string, string>>;
  /** All arguments of the agent, in place of its user's. */
  args?: readonly string[];
  /** A file for the run alone, for this user only, and what tells the agent of it. */
  file?: {
    /** Where the agent goes by it; else `settings.json`. */
    name?: string;
    text(): Promise<string>;
    tell(path: string): { env?: Record<string, string>; args?: readonly string[] };
  };
  /** Why calls of this run will not carry its session. */
  note?: string;
};

/** Where an agent's own settings, without `tallygate run`, send its calls. */
export type AgentSettings = {
  /** Null: to its vendor. */
  address: string | null;
  /** The credential sent there, if it can be read. */
  key: string | null;
  /** Our command that it asks for its key, and the gateway that the key is for. */
  keyCommand?: KeyCommand | null;
  /** A session that every call gets, whatever the branch. */
  fixedSession?: string | null;
  /** What sets the address: a file, or a variable. */
  source: string;
  /** What sets the session, if something else does. */
  sessionSource?: string;
};

/** A file of the user's that gets something of ours. */
type EditedFile<Ours> = {
  path(homes: Homes): string;
  /** The file's text with ours, or without ours (null). @throws Error if it is unreadable or sends calls elsewhere. */
  edit(text: string | null, ours: Ours | null): string | null;
  /** What the user still has to do. */
  afterwards?: string;
};

type HookFile = EditedFile<string>;

/** Where an agent is to send its calls: the gateway, and the command that prints the key for it. */
export type Connection = { url: string; keyCommand: readonly string[] };

/** A file that can name a gateway and a command or a plugin for its key, so that no key is in it. */
type GatewayFile = EditedFile<Connection>;

/** For an agent that takes a gateway from its environment only: a function of the shell starts it with `tallygate run`. */
export type ShellFunction = {
  afterwards: string;
  /** The sign-in with which it takes its address and its key from there, and whether `install` chooses it. */
  signIn?: { type: string; isChosen: boolean };
};

export const isShellFunction = (gateway: Agent["gateway"]): gateway is ShellFunction => !("edit" in gateway);

type ManagedOptions = {
  /** Send the agent's calls to the gateway, too, where the file can say so. */
  gateway: boolean;
  /** Tools do not run while the gateway is unreachable; otherwise agents continue. */
  required: boolean;
};

type ManagedFile = {
  /** Where the agent looks for it, by `process.platform`. */
  paths: Readonly<Partial<Record<NodeJS.Platform, string>>>;
  text(url: string, options: ManagedOptions): string;
  /** What else each machine needs, in a sentence. */
  needs(url: string, options: ManagedOptions): string;
};

type Agreement = {
  /** Agrees to our hooks in the user's place; false: the agent cannot be asked. */
  give(homes: Homes): Promise<boolean>;
  path(homes: Homes): string;
  /** That file's text without the agreement, once the file of hooks is gone; null means no file. */
  without(text: string, homes: Homes): string | null;
  check(directory: string): Promise<Finding>;
};
