/** What the shell would still do to a word before the program sees it. */
export type Expansion = 'parameter' | 'command' | 'arithmetic' | 'process' | 'glob' | 'brace' | 'tilde' | 'locale'

export interface Word {
  /** With quotes and escapes removed; an expansion stands here as it was written. */
  readonly text: string
  readonly source: string
  readonly quoted: boolean
  readonly expansions: readonly Expansion[]
  /** The program does not receive `text` as it stands. */
  readonly dynamic: boolean
  readonly glob: boolean
  /** May become no word or several: an unquoted expansion, a pattern, `"$@"`. */
  readonly splits: boolean
}

export interface Assignment {
  readonly name: string
  readonly value: Word
}

export type RedirectionKind = 'read' | 'write' | 'append' | 'read-write' | 'duplicate' | 'here-document' | 'here-string'

export interface Redirection {
  readonly kind: RedirectionKind
  /** Null when both outputs are meant (`&>`) or the shell chooses (`{fd}>`). */
  readonly fd: number | null
  readonly target: Word | null
  /** The text of a here-document or here-string, when nothing in it is expanded. */
  readonly body: string | null
}

/** How a command came to be in the text: written there, or reached through `parent`. */
export type Origin = 'text' | 'script' | 'argument' | 'substitution' | 'process-substitution'

export type Nesting = 'subshell' | 'group' | 'condition' | 'branch' | 'loop' | 'function' | 'coprocess'

/** The operator before a pipeline; a newline counts as `;`. */
export type Joiner = '&&' | '||' | ';' | '&'

/**
 * A program that runs another one, which then stands in `commands` too.
 * transparent: as it is (env, timeout, nice) · elevated: as another user · elsewhere: in another root or namespace ·
 * items: with arguments that come at run time (xargs, find -exec) · runner: found by a package tool · tool: watched, limited
 * or confined (valgrind, prlimit, bwrap) · shell: from a script text
 */
export type Launcher = 'transparent' | 'elevated' | 'elsewhere' | 'items' | 'runner' | 'tool' | 'shell'

export interface Span {
  readonly start: number
  readonly end: number
}

/** One program run. Wrapped and nested ones have entries of their own, after the entry of what runs them. */
export interface SimpleCommand {
  readonly index: number
  /** Null when the command only assigns or redirects. */
  readonly name: Word | null
  /** The name, if it is found by PATH or stands in a system directory: `./git` is not `git`. */
  readonly program: string | null
  readonly args: readonly Word[]
  readonly assignments: readonly Assignment[]
  readonly redirections: readonly Redirection[]
  readonly parent: number | null
  readonly origin: Origin
  /** Compound commands around it, outermost first, up to its origin. */
  readonly nesting: readonly Nesting[]
  /** Programs looked through to reach it, outermost first. */
  readonly wrappers: readonly string[]
  /** Stages of one pipeline share this number. */
  readonly pipeline: number
  readonly stage: number
  readonly stages: number
  readonly joined: Joiner | null
  readonly negated: boolean
  readonly background: boolean
  readonly launcher: Launcher | null
  /** Code that this reading does not see: a script on standard input, a file, or program text in another language. */
  readonly runs: 'stdin-script' | 'file' | 'inline-code' | null
  /** Why this command may run or change more than what stands here. */
  readonly unknown: string | null
  /** More arguments are added when it runs. */
  readonly appended: boolean
  /** Absolute, or relative to the directory the reading started in ('.'); null when not known. Never resolved through links. */
  readonly cwd: string | null
  /** `cwd` holds only if an earlier `cd` succeeded, which nothing here ensures. */
  readonly cwdAssumed: boolean
  readonly source: string
  /** Place in the text that was read; null inside scripts that are themselves arguments. */
  readonly span: Span | null
}

export type ShellReading =
  | {
      readonly ok: true
      readonly commands: readonly SimpleCommand[]
      /** Characters and constructs that make the text something else than it looks like. */
      readonly suspicious: readonly string[]
    }
  | { readonly ok: false; readonly reason: string }

export interface ReadOptions {
  /** Where the command would run. */
  readonly cwd?: string
  /** What would run it. A plain `sh` reads some bash syntax as something else; such texts are refused for it. */
  readonly shell?: 'bash' | 'sh'
}
