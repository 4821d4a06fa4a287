import { createContext, Script, type Context } from 'node:vm'
import { InspanError } from '@inspan/protocol'

const script = new Script('work()')
let context: Context | undefined

/**
 * Returns what `work` returns, or throws `expired` if that takes too long. For regular expressions of others, which may
 * backtrack without end: nothing else stops one. `work` is cut off wherever it is, so it must hold nothing open.
 */
export function withinTime<T>(limitMs: number, work: () => T): T {
  context ??= createContext(Object.create(null) as Context)
  context['work'] = work
  try {
    return script.runInContext(context, { timeout: limitMs }) as T
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error
    throw new InspanError('expired', `A regular expression took longer than ${limitMs} ms.`)
  } finally {
    context['work'] = undefined
  }
}
