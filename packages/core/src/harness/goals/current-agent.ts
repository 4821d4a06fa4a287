import { InspanError, type Goal } from '@inspan/protocol'
import { aPositiveCount, aText, oneOf, type FieldRules } from '@inspan/protocol/internal'
import { checkGiven, givenFields } from '../checks/check-given.ts'
import type { SessionContext } from '../sessions/session-context.ts'
import type { ObjectiveChanges, ObjectiveOptions } from './goal-keeper.ts'

/** The goal of a thread, as programs set and read it. */
export interface Objectives {
  setObjective(objective: string, options?: ObjectiveOptions): Promise<Goal>
  getObjective(): Promise<Goal | null>
  clearObjective(): Promise<void>
  updateObjectiveOptions(changes: ObjectiveChanges): Promise<Goal>
}

const OPTIONS: FieldRules<ObjectiveChanges> = {
  judgeModelId: aText,
  maxRuns: aPositiveCount,
  prompt: aText,
  pausedReason: aText,
  status: oneOf('active', 'paused'),
}

export function objectivesOf({ binding, lifecycle }: SessionContext): Objectives {
  return {
    setObjective: async (objective, options = {}) => {
      checkGiven(objective, 'objective', aText)
      givenFields(options, 'setObjective(objective, { judgeModelId })', {}, OPTIONS)
      return (await lifecycle.ensure()).control.goal.setObjective(objective, options)
    },
    getObjective: async () => binding.thread?.control.goal.getObjective() ?? null,
    clearObjective: async () => binding.thread?.control.goal.clearObjective(),
    updateObjectiveOptions: async (changes) => {
      givenFields(changes, 'updateObjectiveOptions({ status?, maxRuns? })', {}, OPTIONS)
      const { thread } = binding
      if (thread === undefined)
        throw new InspanError('not-found', 'There is no current thread that an objective could be set for.')
      return thread.control.goal.updateObjectiveOptions(changes)
    },
  }
}

/** Returns the agent with the methods for the goal of its thread. The given agent is not changed. */
export function withObjectives<Agent extends object>(agent: Agent, objectives: Objectives): Agent & Objectives {
  return new Proxy(agent, {
    has: (target, key) => key in objectives || key in target,
    get: (target, key) => {
      if (Object.hasOwn(objectives, key)) return objectives[key as keyof Objectives]
      const value: unknown = Reflect.get(target, key, target)
      // Bound, because its methods may use private fields, which only the agent itself has.
      return typeof value === 'function' ? (value as (...args: unknown[]) => unknown).bind(target) : value
    },
  }) as Agent & Objectives
}
