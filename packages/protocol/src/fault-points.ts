/**
 * Named places at which a test can make the process fail. In production nothing listens, and a fault point costs one
 * call of an empty function.
 */
export interface FaultPoints {
  reach(name: string, detail?: string): void | Promise<void>
}

export const noFaults: FaultPoints = Object.freeze({ reach(): void {} })
