import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync } from 'node:fs'
import { chown, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'

const run = promisify(execFile)

/** A Postgres server of one test file, in a folder of its own and reached through a socket there. */
export interface PostgresServer {
  /** Returns the url of an empty database. */
  emptyDatabase(): Promise<string>
  /** Empties a database for the next test: that is much faster than creating one. */
  giveBack(url: string): Promise<void>
  /** Runs a program of Postgres, such as `pg_dump`, and returns what it prints. */
  run(program: string, ...args: readonly string[]): Promise<string>
  stop(): Promise<void>
}

/** `isDurable`: with the settings of a real server, which waits for the disk. */
export async function startPostgres({ isDurable = false } = {}): Promise<PostgresServer> {
  const programs = programFolder()
  if (programs === undefined) throw new Error('Postgres is not installed: `apt-get install postgresql`.')
  const folder = await mkdtemp(join(tmpdir(), 'inspan-postgres-'))
  const user = await unprivileged()
  if (user !== undefined) await chown(folder, user.uid, user.gid)
  const data = join(folder, 'data')
  const init = ['--no-sync', '-N', '-A', 'trust', '--locale=C', '-E', 'UTF8', '-U', 'inspan', '-D', data]
  await run(join(programs, 'initdb'), init, { ...user, cwd: folder })
  const unsafe = isDurable ? [] : ['-F', '-c', 'full_page_writes=off']
  const settings = [...unsafe, '-c', 'max_connections=200', '-c', 'listen_addresses=']
  const server = spawn(join(programs, 'postgres'), ['-D', data, '-k', folder, ...settings], {
    ...user,
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  await untilReady(server)
  const urlOf = (database: string): string => `postgres://inspan@${encodeURIComponent(folder)}/${database}`
  const admin = new pg.Client({ connectionString: urlOf('postgres') })
  await admin.connect()
  let databases = 0
  const free: string[] = []
  return {
    emptyDatabase: async () => {
      const url = free.pop()
      if (url !== undefined) return url
      const name = `test_${++databases}`
      await admin.query(`CREATE DATABASE ${name}`)
      return urlOf(name)
    },
    giveBack: async (url) => {
      await withClient(url, (client) => client.query('DROP SCHEMA IF EXISTS inspan CASCADE'))
      free.push(url)
    },
    run: async (program, ...args) => {
      const { stdout } = await run(join(programs, program), args, { ...user, cwd: folder, maxBuffer: 2 ** 26 })
      return stdout
    },
    stop: async () => {
      await admin.end()
      const exited = once(server, 'exit')
      server.kill('SIGINT')
      await exited
      await rm(folder, { recursive: true })
    },
  }
}

/** Runs the work on a connection of its own, past the store. */
export async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

export function isPostgresInstalled(): boolean {
  return programFolder() !== undefined
}

/** Debian puts the programs in a folder per version, which is not on the path. */
function programFolder(): string | undefined {
  const [newest] = globSync('/usr/lib/postgresql/*/bin').sort().reverse()
  const folders = [...(newest === undefined ? [] : [newest]), ...(process.env['PATH'] ?? '').split(':')]
  return folders.find((folder) => existsSync(join(folder, 'initdb')))
}

/** Postgres refuses to run as root. */
async function unprivileged(): Promise<{ uid: number; gid: number } | undefined> {
  if (process.getuid?.() !== 0) return undefined
  const idOf = async (option: string): Promise<number> => Number((await run('id', [option, 'nobody'])).stdout)
  return { uid: await idOf('-u'), gid: await idOf('-g') }
}

async function untilReady(server: ChildProcess): Promise<void> {
  let log = ''
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.once('exit', (code) => reject(new Error(`Postgres exited with ${code}: ${log}`)))
    server.stderr?.on('data', (chunk: Buffer) => {
      // Later lines are read and dropped, so that the pipe never fills up.
      if (log.length < 10_000) log += chunk.toString()
      if (log.includes('ready to accept connections')) resolve()
    })
  })
}
