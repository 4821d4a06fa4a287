import { randomUUID } from 'node:crypto'

/** Every process of a run has its id in this variable and passes it on to what it starts. */
export const runTagVariable = 'INSPAN_RUN'
/** The ids of the outer runs, joined by commas, when a process of a run starts runs itself. */
const outerRunsVariable = 'INSPAN_RUN_OUTER'

const runIdPattern = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/

export function newRunId(): string {
  return randomUUID()
}

export function assertRunId(runId: string): void {
  if (runIdPattern.test(runId)) return
  throw new TypeError(
    `A run id has 1 to 128 letters, digits, dots, dashes, colons or underscores and starts with a letter or digit; got ${JSON.stringify(runId)}`,
  )
}

/** Returns the environment for a process of the run. If `host`, ours, is inside a run, the new one is nested in it. */
export function tagged(env: NodeJS.ProcessEnv, runId: string, host: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const outer = [host[runTagVariable], host[outerRunsVariable]].filter((value) => value !== undefined && value !== '')
  const result: NodeJS.ProcessEnv = { ...env, [runTagVariable]: runId }
  if (outer.length > 0) result[outerRunsVariable] = outer.join(',')
  else delete result[outerRunsVariable]
  return result
}

/** Returns the ids of all runs in an environment block (`NAME=value` ended by NUL, as in /proc/PID/environ). */
export function runIdsIn(environ: Buffer): string[] {
  if (!environ.includes(runTagVariable)) return []
  const ids: string[] = []
  for (const entry of environ.toString('latin1').split('\0')) {
    const equals = entry.indexOf('=')
    const name = entry.slice(0, equals)
    if (name === runTagVariable) ids.push(entry.slice(equals + 1))
    else if (name === outerRunsVariable) ids.push(...entry.slice(equals + 1).split(','))
  }
  return ids
}
