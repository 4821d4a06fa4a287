export type TaskStatus = 'pending' | 'in_progress' | 'completed'

export interface TaskItem {
  readonly id: string
  readonly content: string
  readonly status: TaskStatus
  readonly activeForm: string
}

/** What the thread works towards, judged after each run. */
export interface Goal {
  readonly objective: string
  readonly status: 'active' | 'paused' | 'done'
  readonly runsUsed: number
  readonly maxRuns?: number
  readonly judgeModelId?: string
  readonly prompt?: string
  readonly pausedReason?: string
  readonly startedAt: number
  readonly updatedAt: number
}
