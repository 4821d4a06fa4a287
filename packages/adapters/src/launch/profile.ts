/** How a program is asked to stop before it is killed. */
export type StopWay =
  | { readonly signal: NodeJS.Signals; readonly graceMs: number }
  | { readonly closeStdin: true; readonly graceMs: number }

/**
 * A file whose presence means that the user is logged in, so that no key is needed. It is looked for in the directory
 * that `variable` names, otherwise in `directory` below home.
 */
export interface LoginFile {
  readonly variable?: string
  /** Relative to the home directory; used if `variable` is not set. */
  readonly directory: string
  readonly file: string
  /** Tells whether the content is a login, if the CLI creates the file before there is one. Default: all but `{}`. */
  readonly isLogin?: (content: string) => boolean
}

/** What we need to know of a CLI to find, start and stop it. */
export interface CliProfile {
  /** Names the CLI in options and records: `codex`. */
  readonly id: string
  /** Display name. */
  readonly title: string
  readonly command: string
  /** Names of the executable if the CLI was installed in another way. */
  readonly otherCommands?: readonly string[]
  /** Environment variable with the path of the executable, which is then not looked for on PATH. */
  readonly binVariable: string
  /** The npm package and the version of it that this adapter was tested with. */
  readonly npm?: { readonly package: string; readonly version: string }
  /** Versions whose output the dialect is known to understand. */
  readonly knownVersions: readonly string[]
  readonly versionArgs?: readonly string[]
  readonly key: {
    /** Environment variables, any one of which is enough. */
    readonly variables: readonly string[]
    readonly logins?: readonly LoginFile[]
    /** Tells the user how to get a key or log in. */
    readonly hint: string
  }
  /** The command that installs the CLI. */
  readonly install: string
  readonly stop: StopWay
}
