/**
 * Named places at which a test may make the process fail. In production nothing listens, and a point costs one call of
 * an empty function.
 */
export interface FaultPoints {
  reach(name: string, detail?: string): void | Promise<void>
}

export const noFaults: FaultPoints = Object.freeze({ reach(): void {} })
