import { asRunnable } from '@inspan/agent'
import { InspanError } from '@inspan/protocol'
import type { RunnableTool } from '@inspan/protocol/driver'
import type { ThreadPort } from '../signals/thread-port.ts'
import { planTool, SUBMIT_PLAN } from './submit-plan.ts'
import { taskTools } from './task-tools.ts'
import { refusal } from './tool-input.ts'

const OF_THREAD: unique symbol = Symbol('of a thread')

/** A placeholder for the tool that every thread has of its own. */
interface ThreadTool extends RunnableTool {
  readonly [OF_THREAD]: string
}

/** Never used: only the definitions of the tools are read. */
const NOWHERE: ThreadPort = new Proxy({} as ThreadPort, {
  get: () => {
    throw new InspanError('misuse', 'There is no thread.')
  },
})

function ofThread(tool: RunnableTool): ThreadTool {
  return { ...asRunnable(tool), [OF_THREAD]: tool.name }
}

function taskTool(name: string): RunnableTool {
  const tool = taskTools(NOWHERE).find((each) => each.name === name)
  if (tool === undefined) throw new InspanError('not-found', `There is no tool "${name}".`)
  return ofThread({ ...tool, execute: async () => refusal('The task list belongs to a thread of a harness.') })
}

/*
 * For the user's own agents. In a thread of a harness they act on that thread, also under another name. Elsewhere there
 * is no task list, and an approved plan changes no mode.
 */
export const taskWriteTool: RunnableTool = taskTool('task_write')
export const taskUpdateTool: RunnableTool = taskTool('task_update')
export const taskCompleteTool: RunnableTool = taskTool('task_complete')
export const taskCheckTool: RunnableTool = taskTool('task_check')
export const submitPlanTool: RunnableTool = ofThread(
  // Under another name, the thread itself changes the mode, as for plans of foreign programs.
  planTool(async ({ title }) => `The plan "${title}" was approved. Carry it out.`),
)

/** Returns the thread's own tool in place of its placeholder. */
export function boundToThread(tool: RunnableTool, own: (id: string) => RunnableTool | undefined): RunnableTool {
  const id = (tool as Partial<ThreadTool>)[OF_THREAD]
  if (id === undefined || (id === SUBMIT_PLAN && tool.name !== id)) return tool
  const found = own(id)
  return found === undefined ? tool : { ...found, name: tool.name }
}
