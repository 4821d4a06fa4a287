import * as activity from './activity.ts'
import * as agentConfig from './agent-config.ts'
import * as agentEvent from './agent-event.ts'
import * as basics from './basics.ts'
import * as chat from './chat.ts'
import * as command from './command.ts'
import * as control from './control.ts'
import * as driver from './driver.ts'
import * as harnessContent from './harness/content.ts'
import * as conversationEvent from './harness/conversation-event.ts'
import * as displayState from './harness/display-state.ts'
import * as harnessEvent from './harness/event.ts'
import * as memoryEvent from './harness/memory-event.ts'
import * as harnessMessage from './harness/message.ts'
import * as toolEvent from './harness/tool-event.ts'
import * as json from './json.ts'
import * as message from './message.ts'
import * as partRecord from './part-record.ts'
import * as record from './record.ts'
import { controlSchemas, type ControlSchemas } from './record.ts'
import * as recordParts from './record-parts.ts'
import * as state from './state.ts'
import * as store from './store.ts'
import * as wire from './wire.ts'

/** An export `fooSchema` is the schema of the type `Foo`. */
type ByTypeName<Module> = {
  readonly [K in keyof Module as K extends `${infer Name}Schema` ? Capitalize<Name> : never]: Module[K]
}

function byTypeName<Module extends object>(module: Module): ByTypeName<Module> {
  const named = Object.entries(module).flatMap(([name, value]) =>
    name.endsWith('Schema') ? [[name.charAt(0).toUpperCase() + name.slice(1, -'Schema'.length), value] as const] : [],
  )
  return Object.fromEntries(named) as ByTypeName<Module>
}

/**
 * The schemas of all types that are stored or sent, by type name. Types that hold dates, maps or errors in process have
 * the schema of their wire form.
 */
export interface ProtocolSchemas
  extends
    ByTypeName<typeof json>,
    ByTypeName<typeof basics>,
    ByTypeName<typeof activity>,
    ByTypeName<typeof agentEvent>,
    ByTypeName<typeof message>,
    ByTypeName<typeof control>,
    ByTypeName<typeof partRecord>,
    ByTypeName<typeof recordParts>,
    ControlSchemas,
    ByTypeName<typeof record>,
    ByTypeName<typeof state>,
    ByTypeName<typeof store>,
    ByTypeName<typeof driver>,
    ByTypeName<typeof harnessContent>,
    ByTypeName<typeof harnessMessage>,
    ByTypeName<typeof displayState>,
    ByTypeName<typeof conversationEvent>,
    ByTypeName<typeof toolEvent>,
    ByTypeName<typeof memoryEvent>,
    ByTypeName<typeof harnessEvent>,
    ByTypeName<typeof chat>,
    ByTypeName<typeof agentConfig>,
    ByTypeName<typeof command>,
    ByTypeName<typeof wire> {}

export type SchemaName = keyof ProtocolSchemas

export const schemas: ProtocolSchemas = {
  ...byTypeName(json),
  ...byTypeName(basics),
  ...byTypeName(activity),
  ...byTypeName(agentEvent),
  ...byTypeName(message),
  ...byTypeName(control),
  ...byTypeName(partRecord),
  ...byTypeName(recordParts),
  ...controlSchemas,
  ...byTypeName(record),
  ...byTypeName(state),
  ...byTypeName(store),
  ...byTypeName(driver),
  ...byTypeName(harnessContent),
  ...byTypeName(harnessMessage),
  ...byTypeName(displayState),
  ...byTypeName(conversationEvent),
  ...byTypeName(toolEvent),
  ...byTypeName(memoryEvent),
  ...byTypeName(harnessEvent),
  ...byTypeName(chat),
  ...byTypeName(agentConfig),
  ...byTypeName(command),
  ...byTypeName(wire),
}
