import { RequestError, type SessionConfigOption } from '@agentclientprotocol/sdk'
import type { Harness, Session } from '@inspan/core'

const ASK = 'ask'
const FULL_AUTO = 'full-auto'
/** Shown while no model was chosen. */
const OWN_MODEL = 'default'

/** Returns what a client can choose in a session: mode, model and permissions. */
export async function configOptions(harness: Harness, session: Session): Promise<SessionConfigOption[]> {
  const modes = harness.listModes().map(({ description, id, name }) => ({
    value: id,
    name: name ?? id,
    ...(description === undefined ? {} : { description }),
  }))
  const model = session.model.get()
  const usable = (await harness.listAvailableModels()).filter(({ hasApiKey }) => hasApiKey).map(({ id }) => id)
  const models = [...new Set([model === '' ? OWN_MODEL : model, ...usable])]
  return [
    { type: 'select', id: 'mode', name: 'Mode', category: 'mode', currentValue: session.mode.get(), options: modes },
    {
      type: 'select',
      id: 'model',
      name: 'Model',
      category: 'model',
      currentValue: model === '' ? OWN_MODEL : model,
      options: models.map((id) => ({ value: id, name: id === OWN_MODEL ? "The agent's own" : id })),
    },
    {
      type: 'select',
      id: 'permissions',
      name: 'Permissions',
      currentValue: session.permissions.isYolo() ? FULL_AUTO : ASK,
      options: [
        { value: ASK, name: 'Ask', description: 'The rules decide what is asked about.' },
        { value: FULL_AUTO, name: 'Allow everything', description: 'Only what a rule denies is refused.' },
      ],
    },
  ]
}

export async function setConfigOption(harness: Harness, session: Session, id: string, value: unknown): Promise<void> {
  const option = (await configOptions(harness, session)).find((each) => each.id === id)
  const values = option?.type === 'select' ? option.options.map((each) => ('value' in each ? each.value : '')) : []
  if (typeof value !== 'string' || !values.includes(value)) {
    throw RequestError.invalidParams({ configId: id, value }, `"${id}" has no value ${JSON.stringify(value)}.`)
  }
  if (id === 'mode') await session.mode.switch({ modeId: value })
  else if (id === 'permissions') await session.permissions.setYolo({ enabled: value === FULL_AUTO })
  else if (value !== OWN_MODEL) await session.model.set({ modelId: value })
}
