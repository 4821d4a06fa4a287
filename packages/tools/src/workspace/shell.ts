/** What a command runs with. */
export interface CommandOptions {
  readonly command: string
  /** Relative to the workspace. Default: the workspace itself. */
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Folders outside the workspace that a command may be run in. */
  readonly allowed?: readonly string[]
  readonly onOutput: (text: string, stream: 'stdout' | 'stderr') => void
}

export interface CommandExit {
  readonly exitCode: number | null
  readonly signal: string | null
}

/** A running command. It ends with this process, with everything it started. */
export interface RunningCommand {
  readonly pid?: number
  /** Resolves when the command and its output have ended. */
  readonly ended: Promise<CommandExit>
  /** Ends the command and everything it started. */
  kill(): Promise<void>
}

/** Where the commands of a workspace run. The default is this machine. */
export interface WorkspaceShell {
  /** Whether commands can write only inside the workspace. */
  readonly isContained: boolean
  init?(): Promise<void>
  run(options: CommandOptions): Promise<RunningCommand>
}
