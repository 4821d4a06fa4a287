/** How a program is asked to stop before it is killed. */
export type StopWay =
  | { readonly signal: NodeJS.Signals; readonly graceMs: number }
  | { readonly closeStdin: true; readonly graceMs: number }

/** Where a program keeps the login that stands in for a key: below the variable's directory, else below home. */
export interface LoginFile {
  readonly variable?: string
  /** Relative to home; used when the variable is not set. */
  readonly directory: string
  readonly file: string
  /** Whether what stands in it is a login, where the program makes the file before there is one. Default: if anything does. */
  readonly isLogin?: (content: string) => boolean
}

/** What has to be known about a command line agent to find it, start it and stop it. */
export interface CliProfile {
  /** The harness id. */
  readonly id: string
  /** Its name for people. */
  readonly title: string
  readonly command: string
  /** What it is called where it was installed in another way. */
  readonly otherCommands?: readonly string[]
  /** Names the program's path instead of looking for the command on PATH. */
  readonly binVariable: string
  /** The version all this was tested with. */
  readonly npm?: { readonly package: string; readonly version: string }
  /** Versions whose output is known to be understood. */
  readonly knownVersions: readonly string[]
  readonly versionArgs?: readonly string[]
  readonly key: {
    /** Any of these is enough. */
    readonly variables: readonly string[]
    readonly logins?: readonly LoginFile[]
    /** What a person has to do. */
    readonly hint: string
  }
  /** The command that installs it. */
  readonly install: string
  readonly stop: StopWay
}
