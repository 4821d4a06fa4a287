import type { Client } from '@inspan/client'

export interface ChangedFile {
  readonly path: string
  readonly status: 'created' | 'changed' | 'deleted'
  readonly before?: string
  readonly after?: string
  readonly isBinary?: true
}

export async function changedFilesOf(_client: Client, _thread: string): Promise<readonly ChangedFile[]> {
  return []
}
