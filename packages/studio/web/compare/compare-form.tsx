import { Plus, X } from 'lucide-react'
import { useEffect, useState, type ReactNode } from 'react'
import type { Client, ModeInfo } from '@inspan/client'
import { Button } from '../parts/button.tsx'
import { keepComparison, listComparisons, type CompareMode, type KeptLane } from './comparisons.ts'

interface LaneChoice {
  readonly mode: string
  readonly model: string
}

interface CompareFormProps {
  readonly client: Client
  readonly modes: readonly ModeInfo[]
  readonly models: readonly string[]
  readonly onStart: (comparison: string) => void
}

const FEWEST = 2
const MOST = 6

/** Chooses who gets the prompt. Every lane is a mode of the server, with a model of its own if it takes one. */
export function CompareForm({ client, models, modes, onStart }: CompareFormProps): ReactNode {
  const [prompt, setPrompt] = useState('')
  const [chosen, setChosen] = useState<readonly LaneChoice[] | undefined>(undefined)
  const [canBranch, setCanBranch] = useState(false)
  const [chosenHow, setHow] = useState<CompareMode | undefined>(undefined)
  const how = chosenHow ?? (canBranch ? 'worktrees' : 'read-only')
  const [problem, setProblem] = useState<string | undefined>(undefined)
  useEffect(() => {
    client.routes.offersWorktrees().then(setCanBranch, () => undefined)
  }, [client])
  const lanes = chosen ?? firstLanes(modes)
  const change = (index: number, lane: LaneChoice): void => setChosen(lanes.with(index, lane))
  const start = async (): Promise<void> => {
    try {
      const names = namesOf(lanes, modes)
      const kept: KeptLane[] = []
      for (const [index, { mode, model }] of lanes.entries()) {
        const name = names[index] ?? mode
        const thread = await client.routes.createThread({
          title: `${name}: ${prompt}`.slice(0, 120),
          ...(how === 'worktrees' ? { worktree: true } : {}),
        })
        kept.push({ name, thread: thread.id, mode, ...(model === '' ? {} : { model }) })
      }
      const id = kept[0]?.thread ?? ''
      keepComparison({ id, prompt, lanes: kept, how })
      onStart(id)
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error))
    }
  }
  return (
    <div className="flex-1 overflow-y-auto">
      <form
        className="mx-auto max-w-3xl p-4"
        onSubmit={(event) => {
          event.preventDefault()
          void start()
        }}
      >
        <h1 className="mb-3 text-xl font-semibold">Compare agents</h1>
        <p className="mb-3 text-sm text-(--soft)">One prompt, several agents, side by side.</p>
        <textarea
          aria-label="Prompt for all"
          autoFocus
          rows={4}
          placeholder="What should they all do?"
          className="mb-3 w-full rounded-xl border border-(--line) bg-(--panel) p-3"
          value={prompt}
          onChange={(event) => setPrompt(event.target.value)}
        />
        <fieldset className="mb-3">
          <legend className="mb-1 text-xs font-semibold tracking-wide text-(--soft) uppercase">Lanes</legend>
          {lanes.map((lane, index) => (
            <div key={index} className="mb-1.5 flex gap-2">
              <select
                aria-label={`Agent of lane ${index + 1}`}
                className="rounded-lg border border-(--line) bg-(--bg) px-2 py-1 text-sm"
                value={lane.mode}
                onChange={(event) => change(index, { ...lane, mode: event.target.value })}
              >
                {modes.map(({ id, name }) => (
                  <option key={id} value={id}>
                    {name}
                  </option>
                ))}
              </select>
              <input
                aria-label={`Model of lane ${index + 1}`}
                list="models"
                placeholder="default model"
                className="min-w-0 flex-1 rounded-lg border border-(--line) bg-(--bg) px-2 py-1 text-sm"
                value={lane.model}
                onChange={(event) => change(index, { ...lane, model: event.target.value })}
              />
              <button
                type="button"
                aria-label={`Remove lane ${index + 1}`}
                disabled={lanes.length <= FEWEST}
                className="px-1 disabled:opacity-30"
                onClick={() => setChosen(lanes.toSpliced(index, 1))}
              >
                <X size={16} />
              </button>
            </div>
          ))}
          <datalist id="models">
            {models.map((model) => (
              <option key={model} value={model} />
            ))}
          </datalist>
          <Button
            disabled={lanes.length >= MOST}
            onClick={() => setChosen([...lanes, { mode: modes[0]?.id ?? '', model: '' }])}
          >
            <Plus size={14} className="mr-1 inline" />
            Add a lane
          </Button>
        </fieldset>
        <HowChoice how={how} canBranch={canBranch} onChange={setHow} />
        {problem !== undefined && (
          <p role="alert" className="mb-3 text-sm text-(--bad)">
            {problem}
          </p>
        )}
        <Button type="submit" kind="primary" disabled={prompt.trim() === '' || modes.length === 0}>
          Start {lanes.length} lanes
        </Button>
      </form>
      <Earlier onOpen={onStart} />
    </div>
  )
}

const HOW: Readonly<Record<CompareMode, string>> = {
  worktrees:
    'Each in a git worktree of its own, at the same time: they may edit there, and nothing here changes until you keep one',
  'read-only': 'Read-only, one after the other: everything that needs an approval is declined',
  shared: 'At the same time in the same folder: they may write over each other’s changes',
}

interface HowProps {
  readonly how: CompareMode
  /** Whether the server offers worktrees. */
  readonly canBranch: boolean
  readonly onChange: (how: CompareMode) => void
}

function HowChoice({ canBranch, how, onChange }: HowProps): ReactNode {
  const offered: readonly CompareMode[] = canBranch ? ['worktrees', 'read-only', 'shared'] : ['read-only', 'shared']
  return (
    <fieldset className="mb-3">
      <legend className="mb-1 text-xs font-semibold tracking-wide text-(--soft) uppercase">Where they work</legend>
      {offered.map((each) => (
        <label key={each} className="mb-1 flex items-center gap-2 text-sm">
          <input type="radio" name="how" checked={how === each} onChange={() => onChange(each)} />
          {HOW[each]}
        </label>
      ))}
    </fieldset>
  )
}

function Earlier({ onOpen }: { readonly onOpen: (comparison: string) => void }): ReactNode {
  const kept = listComparisons()
  if (kept.length === 0) return null
  return (
    <section aria-label="Earlier comparisons" className="mx-auto max-w-3xl p-4">
      <h2 className="mb-1 text-xs font-semibold tracking-wide text-(--soft) uppercase">Earlier</h2>
      {kept.map(({ id, lanes, prompt }) => (
        <button
          key={id}
          className="block w-full truncate rounded-lg px-2 py-1.5 text-left text-sm hover:bg-(--panel)"
          onClick={() => onOpen(id)}
        >
          {prompt} <span className="text-(--soft)">({lanes.map(({ name }) => name).join(', ')})</span>
        </button>
      ))}
    </section>
  )
}

function firstLanes(modes: readonly ModeInfo[]): readonly LaneChoice[] {
  const each = modes.slice(0, MOST).map(({ id }) => ({ mode: id, model: '' }))
  const [first = { mode: '', model: '' }] = each
  return each.length >= FEWEST ? each : [first, first]
}

/** Names lanes after their agent and model; the second of a name gets a number. */
function namesOf(lanes: readonly LaneChoice[], modes: readonly ModeInfo[]): readonly string[] {
  const names: string[] = []
  for (const { mode, model } of lanes) {
    const name = modes.find(({ id }) => id === mode)?.name ?? mode
    const full = model === '' ? name : `${name} ${model}`
    const before = names.filter((each) => each === full || each.startsWith(`${full} #`)).length
    names.push(before === 0 ? full : `${full} #${before + 1}`)
  }
  return names
}
