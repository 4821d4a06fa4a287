/** What is known about a file. `version` changes whenever its content may have changed. */
export interface FileInfo {
  readonly path: string
  readonly type: 'file' | 'folder' | 'link' | 'other'
  readonly size: number
  readonly mode: number
  readonly modifiedAt: number
  readonly version: string
}

export type ListedFile = Pick<FileInfo, 'path' | 'type'>

export interface WorkspaceFileContent {
  readonly bytes: Buffer
  readonly info: FileInfo
}

export interface WriteOptions {
  /** Refuses to write if the file is not this version any more; `null`: if there is a file. */
  readonly expected?: string | null
  /** Default: that of the file, or of a new file. */
  readonly mode?: number
}

export interface ListOptions {
  /** How many levels below the path; 1 lists only the folder itself. */
  readonly depth: number
  /** Leave out what `.gitignore` files name, and `.git`. */
  readonly honourIgnore: boolean
  readonly signal?: AbortSignal
}

export interface GrepOptions extends Pick<ListOptions, 'honourIgnore' | 'signal'> {
  readonly pattern: RegExp
  /** The pattern as it was given, for programs that search. */
  readonly source: string
  readonly glob?: string
  /** Whether ripgrep is used to find the files. Default: if it is there. */
  readonly useRipgrep?: boolean
}

export interface Match {
  readonly path: string
  readonly line: number
  readonly text: string
}

/**
 * Where the files of a workspace are. The default is a folder of this machine; another implementation can keep them
 * anywhere. Paths are relative to the workspace or absolute; a path that leaves it is refused with `invalid-input`,
 * unless it is in one of `allowed`.
 */
export interface WorkspaceFiles {
  stat(path: string, allowed?: readonly string[]): Promise<FileInfo | null>
  read(path: string, maxBytes: number, allowed?: readonly string[]): Promise<WorkspaceFileContent>
  /** Replaces the file as a whole: nobody ever sees half of it. Creates missing folders. */
  write(path: string, bytes: Buffer, options?: WriteOptions, allowed?: readonly string[]): Promise<FileInfo>
  makeFolder(path: string, allowed?: readonly string[]): Promise<void>
  remove(path: string, isRecursive: boolean, allowed?: readonly string[]): Promise<void>
  list(path: string, options: ListOptions, allowed?: readonly string[]): AsyncIterable<ListedFile>
  grep(path: string, options: GrepOptions, allowed?: readonly string[]): AsyncIterable<Match>
}
