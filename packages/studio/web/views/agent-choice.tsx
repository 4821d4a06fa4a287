import type { ReactNode } from 'react'
import type { Choices } from '../use-choices.ts'

interface AgentChoiceProps {
  readonly choices: Choices
  readonly mode: string
  readonly model: string
  readonly onMode: (mode: string) => void
  readonly onModel: (model: string) => void
}

const LOOK = 'max-w-40 rounded-lg border border-(--line) bg-(--bg) px-2 py-1 text-sm sm:max-w-48'

/** Chooses who works: a mode stands for an agent, ours or a coding agent, and the model is the one it uses. */
export function AgentChoice({ choices, mode, model, onMode, onModel }: AgentChoiceProps): ReactNode {
  const { models, modes } = choices
  const offered = [...new Set([...(model === '' ? [''] : [model]), ...models])]
  return (
    <>
      {modes.length > 1 && (
        <select aria-label="Mode" className={LOOK} value={mode} onChange={(event) => onMode(event.target.value)}>
          {modes.map(({ description, id, name }) => (
            <option key={id} value={id} title={description}>
              {name}
            </option>
          ))}
        </select>
      )}
      {models.length > 0 && (
        <select aria-label="Model" className={LOOK} value={model} onChange={(event) => onModel(event.target.value)}>
          {offered.map((id) => (
            <option key={id} value={id}>
              {id === '' ? 'Default model' : id}
            </option>
          ))}
        </select>
      )}
    </>
  )
}
