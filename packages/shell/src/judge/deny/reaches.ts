/** Whether a deny or ask applies to a command; `maybe` when that is only known at run time. */
export type Reach = 'no' | 'maybe' | 'yes'

const ORDER: readonly Reach[] = ['no', 'maybe', 'yes']

export function strongest(...reaches: readonly Reach[]): Reach {
  return ORDER.findLast((reach) => reaches.includes(reach)) ?? 'no'
}

export function weakest(...reaches: readonly Reach[]): Reach {
  return ORDER.find((reach) => reaches.includes(reach)) ?? 'yes'
}
