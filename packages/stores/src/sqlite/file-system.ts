import { statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import { InspanError } from '@inspan/protocol'

/** Returns the file system of a path; `undefined` when it cannot be told. */
export type FileSystemOf = (path: string) => string | undefined

/**
 * File systems that other machines may have mounted too, by the number Linux gives them. The write-ahead log needs
 * memory that is shared by all who have the file open, and locks that hold, so two machines would damage the file
 * without noticing.
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

/** Returns the name of the file system if several machines may share it. */
export const sharedFileSystemOf: FileSystemOf = (path) => {
  if (process.platform !== 'linux') return undefined
  for (const place of [path, dirname(path)]) {
    try {
      return SHARED_BETWEEN_MACHINES.get(statfsSync(place).type)
    } catch {
      // It does not exist yet, or cannot be accessed: opening it gives the better error.
    }
  }
  return undefined
}

export function refuseSharedFileSystem(path: string, fileSystemOf: FileSystemOf): void {
  const name = fileSystemOf(path)
  if (name === undefined) return
  throw new InspanError('unsupported', `${path} is on a network file system (${name}), where it would be damaged.`, {
    hint: 'Put the database on a local disk. Several processes may share it there, several machines may not.',
    details: { path, fileSystem: name },
  })
}
