export { readDatabaseStatus, type DatabaseStatus, type MachineStatus } from './database-status.ts'
export { PostgresStore, type PostgresStoreOptions } from './postgres-store.ts'
export type { Tenant } from './tenant.ts'
export type { Schedule } from './fleet/schedules.ts'
