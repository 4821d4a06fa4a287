import { createContext, Script, type Context } from 'node:vm'

const script = new Script('work()')
let context: Context | undefined

/** Returns what `work` returns, or throws if that takes too long. Nothing else stops a regular expression. */
export function withinTime<T>(limitMs: number, work: () => T): T {
  context ??= createContext(Object.create(null) as Context)
  context['work'] = work
  try {
    return script.runInContext(context, { timeout: limitMs }) as T
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error
    throw new Error(`it takes longer than ${limitMs} ms`, { cause: error })
  } finally {
    context['work'] = undefined
  }
}
