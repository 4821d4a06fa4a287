import type { Goal } from '@evener/protocol'
import type { CurrentThread } from '../signals/session-signals.ts'
import type { ObjectiveChanges, ObjectiveOptions } from './goal-keeper.ts'

/** What an agent that works in a thread is to reach there. */
export interface Objectives {
  setObjective(objective: string, options?: ObjectiveOptions): Promise<Goal>
  getObjective(): Promise<Goal | null>
  clearObjective(): Promise<void>
  updateObjectiveOptions(changes: ObjectiveChanges): Promise<Goal>
}

export function objectivesOf(thread: CurrentThread): Objectives {
  return {
    setObjective: async (objective, options) => (await thread.ensure()).goal.setObjective(objective, options),
    getObjective: async () => thread.get()?.goal.getObjective() ?? null,
    clearObjective: async () => thread.get()?.goal.clearObjective(),
    updateObjectiveOptions: async (changes) => (await thread.ensure()).goal.updateObjectiveOptions(changes),
  }
}

/** The agent as it was given, with the objectives of the thread it works in. The given one stays as it is. */
export function withObjectives<Agent extends object>(agent: Agent, objectives: Objectives): Agent & Objectives {
  return new Proxy(agent, {
    has: (target, key) => key in objectives || key in target,
    get: (target, key) => {
      if (Object.hasOwn(objectives, key)) return objectives[key as keyof Objectives]
      const value: unknown = Reflect.get(target, key, target)
      // Its methods may use private fields, which only the agent itself has.
      return typeof value === 'function' ? (value as (...args: unknown[]) => unknown).bind(target) : value
    },
  }) as Agent & Objectives
}
