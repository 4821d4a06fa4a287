export type { JsonValue } from '@evener/protocol'
