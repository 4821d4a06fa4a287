import type { AgentDriver } from '@inspan/protocol/driver'
import type { NativeTools } from '../launch/offered-tools.ts'
import { opencodeDriver, type OpencodeOptions } from '../opencode/driver.ts'
import type { Flavour } from '../opencode/flavour.ts'
import { opencodeNativeTools } from '../opencode/native-tools.ts'
import { kiloCodeDialect } from './mapper.ts'
import { kiloCodeProfile } from './profile.ts'

const { categories, harmless, kinds } = opencodeNativeTools
const SHELL: readonly string[] = [...kinds.shell, 'background_process']

const TOOLS: NativeTools = {
  categories: {
    ...categories,
    execute: SHELL,
    other: [
      ...categories.other,
      'agent_manager',
      'board_post',
      'board_read',
      'cancel_wakeup',
      'kilo_local_recall',
      'schedule_wakeup',
    ],
  },
  harmless,
  kinds: { ...kinds, shell: SHELL },
}

export const KILO_CODE: Flavour = {
  profile: kiloCodeProfile,
  dialect: kiloCodeDialect,
  prefix: 'KILO',
  serverUser: 'kilo',
  tools: TOOLS,
  // A daemon would outlive the run.
  env: { KILO_NO_DAEMON: '1' },
}

export type KiloCodeOptions = OpencodeOptions

/** Makes an agent of Kilo Code in print mode. Kilo Code is built on OpenCode and launched the same way. */
export function kiloCode(options: KiloCodeOptions = {}): AgentDriver {
  return opencodeDriver(KILO_CODE, options)
}
