import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const execute = promisify(execFile)

export interface RunOptions {
  readonly cwd: string
  /** Folders in which programs are looked for first. */
  readonly path?: readonly string[]
  /** Returns the output even if the exit code is not 0. */
  readonly mayFail?: boolean
}

/** Runs a program to its end and returns its output. A failure throws an error that quotes all output. */
export async function run(command: string, args: readonly string[], options: RunOptions): Promise<string> {
  const separator = process.platform === 'win32' ? ';' : ':'
  const env = { ...outsideEnvironment(), PATH: [...(options.path ?? []), process.env['PATH'] ?? ''].join(separator) }
  try {
    const { stdout } = await execute(command, args, {
      cwd: options.cwd,
      env,
      maxBuffer: 64 * 1024 * 1024,
      shell: process.platform === 'win32',
    })
    return stdout
  } catch (error) {
    const { code, stdout = '', stderr = '' } = error as { code?: unknown; stdout?: string; stderr?: string }
    if (options.mayFail === true && typeof code === 'number') return stdout
    const line = [command, ...args].join(' ')
    throw new Error(`${line}\nin ${options.cwd} failed:\n${stdout}\n${stderr}`, { cause: error })
  }
}

/** npm and the test runner tell their children where they are, which would be wrong in another folder. */
export function outsideEnvironment(): NodeJS.ProcessEnv {
  const inherited = /^(npm_package_|npm_lifecycle_|npm_command$|npm_config_local_prefix$|INIT_CWD$|NODE_TEST_CONTEXT$)/i
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !inherited.test(name)))
}
