import type { AgentDriver } from '@inspan/protocol/driver'
import type { NativeTools } from '../launch/offered-tools.ts'
import { opencodeLiveDriver, type OpencodeLiveOptions } from '../opencode/live.ts'
import { opencodeNativeTools } from '../opencode/native-tools.ts'
import { kiloCodeAcpDialect, kiloCodeHabits } from './acp/mapper.ts'
import { KILO_CODE } from './driver.ts'

const SHELL: readonly string[] = [...opencodeNativeTools.kinds.shell, 'background_process']
const TOOLS: NativeTools = {
  ...opencodeNativeTools,
  categories: { ...opencodeNativeTools.categories, execute: SHELL },
  kinds: { ...opencodeNativeTools.kinds, shell: SHELL },
}

/** Makes an agent of Kilo Code in live mode. Kilo Code is built on OpenCode. */
export function kiloCodeLive(options: OpencodeLiveOptions = {}): AgentDriver {
  const live = { dialect: kiloCodeAcpDialect, habits: kiloCodeHabits, tools: TOOLS }
  return opencodeLiveDriver({ ...KILO_CODE, ...live }, options)
}
