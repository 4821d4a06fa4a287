import type { CommandType } from '@inspan/protocol/wire'

/** `view` may read, `approve` may also answer what waits for a person, `drive` may do everything. */
export type Role = 'view' | 'approve' | 'drive'

export const ROLES: readonly Role[] = ['view', 'approve', 'drive']

/** Who sends a request. */
export interface Identity {
  /** A person or a program, as recorded with each command and answer. Not the token: it may change. */
  readonly principal: string
  readonly role: Role
  /** The resource id whose threads are in reach. Default: that of the harness. */
  readonly tenant?: string
}

export function allows(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed)
}

export function roleOfCommand(type: CommandType): Role {
  return type === 'approve' || type === 'deny' || type === 'answer' ? 'approve' : 'drive'
}
