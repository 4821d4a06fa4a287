import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chown, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { postgresPrograms } from './programs.fixture.ts'

const run = promisify(execFile)

/** A Postgres server of one test file, in a folder of its own and reached through a socket there. */
export interface PostgresServer {
  /** Returns the url of an empty database. */
  emptyDatabase(): Promise<string>
  /** Empties a database for the next test: that is much faster than creating one. */
  releaseDatabase(url: string): Promise<void>
  /** Runs a program of Postgres, such as `pg_dump`, and returns what it prints. */
  run(program: string, ...args: readonly string[]): Promise<string>
  /** Starts another server that repeats whatever this one commits. */
  startStandby(): Promise<Standby>
  /** Stops the server, does the work while there is none, and starts it again. */
  restart(meanwhile: () => Promise<void>): Promise<void>
  stop(): Promise<void>
}

export interface Standby {
  /** Returns the url of a database of the primary on this server. */
  urlOf(url: string): string
  /** Makes it a server of its own, which can be written. */
  promote(): Promise<void>
  stop(): Promise<void>
}

/** `isDurable`: with the settings of a real server, which waits for the disk. */
export async function startPostgres({ isDurable = false } = {}): Promise<PostgresServer> {
  const programs = await postgresPrograms()
  const folder = await mkdtemp(join(tmpdir(), 'inspan-postgres-'))
  const user = await unprivileged()
  if (user !== undefined) await chown(folder, user.uid, user.gid)
  const data = join(folder, 'data')
  const init = ['--no-sync', '-N', '-A', 'trust', '--locale=C', '-E', 'UTF8', '-U', 'inspan', '-D', data]
  await run(join(programs, 'initdb'), init, { ...user, cwd: folder })
  const unsafe = isDurable ? [] : ['-F', '-c', 'full_page_writes=off']
  const settings = [...unsafe, '-c', 'max_connections=200', '-c', 'listen_addresses=']
  const launch = async (place: string, socket: string): Promise<() => Promise<void>> => {
    const server = spawn(join(programs, 'postgres'), ['-D', place, '-k', socket, ...settings], {
      ...user,
      cwd: folder,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    await untilReady(server)
    return async () => {
      if (server.exitCode !== null) return
      const exited = once(server, 'exit')
      server.kill('SIGINT')
      await exited
    }
  }
  let stop = await launch(data, folder)
  const urlOf = (database: string): string => `postgres://inspan@${encodeURIComponent(folder)}/${database}`
  let databases = 0
  const free: string[] = []
  const runProgram = async (program: string, ...args: readonly string[]): Promise<string> => {
    const { stdout } = await run(join(programs, program), args, { ...user, cwd: folder, maxBuffer: 2 ** 26 })
    return stdout
  }
  return {
    emptyDatabase: async () => {
      const url = free.pop()
      if (url !== undefined) return url
      const name = `test_${++databases}`
      await withClient(urlOf('postgres'), (admin) => admin.query(`CREATE DATABASE ${name}`))
      return urlOf(name)
    },
    releaseDatabase: async (url) => {
      await withClient(url, (client) => client.query('DROP SCHEMA IF EXISTS harness CASCADE'))
      free.push(url)
    },
    run: runProgram,
    startStandby: async () => {
      const socket = join(folder, 'standby-socket')
      await runProgram('pg_basebackup', '-h', folder, '-U', 'inspan', '-D', join(folder, 'standby'), '-R', '-c', 'fast')
      await mkdir(socket)
      if (user !== undefined) await chown(socket, user.uid, user.gid)
      const stopStandby = await launch(join(folder, 'standby'), socket)
      const urlOnStandby = (url: string): string => url.replace(encodeURIComponent(folder), encodeURIComponent(socket))
      return {
        urlOf: urlOnStandby,
        promote: async () => {
          await withClient(urlOnStandby(urlOf('postgres')), (client) => client.query('SELECT pg_promote()'))
        },
        stop: stopStandby,
      }
    },
    restart: async (meanwhile) => {
      await stop()
      await meanwhile()
      stop = await launch(data, folder)
    },
    stop: async () => {
      await stop()
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
      if (log.includes('ready to accept')) resolve()
    })
  })
}
