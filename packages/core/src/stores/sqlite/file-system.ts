import { statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import { EvenerError } from '@evener/protocol'

/** Says on which kind of file system a path is; `undefined` when that cannot be told. */
export type FileSystemOf = (path: string) => string | undefined

/**
 * Linux names file systems by a number. Those that other machines may have mounted too: the write-ahead log needs memory
 * that all who have the file open share, and locks that hold, so two machines would damage the file without noticing.
 */
const SHARED_BETWEEN_MACHINES: ReadonlyMap<number, string> = new Map([
  [0x6969, 'nfs'],
  [0x517b, 'smb'],
  [0xfe534d42, 'smb2'],
  [0xff534d42, 'cifs'],
  [0x5346414f, 'afs'],
  [0x73757245, 'coda'],
  [0x00c36400, 'ceph'],
  [0x0bd00bd0, 'lustre'],
  [0x01161970, 'gfs2'],
  [0x7461636f, 'ocfs2'],
])

/** The name of a file system that several machines may share. */
export const sharedFileSystemOf: FileSystemOf = (path) => {
  if (process.platform !== 'linux') return undefined
  for (const place of [path, dirname(path)]) {
    try {
      return SHARED_BETWEEN_MACHINES.get(statfsSync(place).type)
    } catch {
      // It does not exist yet, or cannot be looked at: whoever opens it says so better.
    }
  }
  return undefined
}

export function refuseSharedFileSystem(path: string, fileSystemOf: FileSystemOf): void {
  const name = fileSystemOf(path)
  if (name === undefined) return
  throw new EvenerError('unsupported', `${path} is on a network file system (${name}), where it would be damaged.`, {
    hint: 'Put the database on a local disk. Several processes may share it there, several machines may not.',
    details: { path, fileSystem: name },
  })
}
