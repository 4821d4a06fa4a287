import type { DeltaFrame, ThreadState } from '@inspan/protocol/log'

/** Where the frames of a thread come from: its runtime in this process, or the records that another process writes. */
export interface FrameSource {
  /** The state on disk. The next frame applies to it. */
  readonly state: ThreadState
  onFrame(listener: (frame: DeltaFrame) => void): () => void
  /** True while closing the source would interrupt a run. */
  readonly isBusy: boolean
  close(): Promise<void>
}
