/**
 * Generates conversations with facts hidden in them, and questions whose evidence is known. The same seed gives the same
 * conversation everywhere, so retrieval can be measured without a model.
 */
export interface PlantedConversation {
  /** What was said, oldest first. */
  readonly turns: readonly string[]
  readonly questions: readonly PlantedQuestion[]
}

export interface PlantedQuestion {
  readonly text: string
  /** The turn that answers it. */
  readonly evidence: number
}

/** A kind of fact: how it is told, and how it is asked for in other words. */
interface ConversationKind {
  readonly tell: (who: string, what: string) => string
  readonly ask: (who: string) => string
  readonly values: readonly string[]
}

const NAMES = ['Ada', 'Boris', 'Chiara', 'Dmitri', 'Elif', 'Femi', 'Greta', 'Hiro', 'Ines', 'Jonas', 'Kavita', 'Lars']
const PROJECTS = [
  'Falcon',
  'Harbour',
  'Juniper',
  'Lantern',
  'Meridian',
  'Nimbus',
  'Orchard',
  'Pelican',
  'Quarry',
  'Saffron',
]

const KINDS: readonly ConversationKind[] = [
  {
    tell: (who, what) => `By the way, ${who} moved to ${what} last spring and works from there now.`,
    ask: (who) => `Where does ${who} live these days?`,
    values: ['Lisbon', 'Oslo', 'Nairobi', 'Lima', 'Hanoi', 'Gdansk'],
  },
  {
    tell: (who, what) => `We agreed that ${who} is deployed with ${what}, never by hand.`,
    ask: (who) => `How is ${who} deployed?`,
    values: ['Ansible', 'Nomad', 'a cron job', 'Terraform', 'a shell script', 'Argo'],
  },
  {
    tell: (who, what) => `The deadline for ${who} is ${what}; the customer will not move it.`,
    ask: (who) => `When does ${who} have to be finished?`,
    values: ['3 March', '17 June', '1 October', '24 November', '9 January', '30 April'],
  },
  {
    tell: (who, what) => `${who} asked us not to use ${what} because of an old incident.`,
    ask: (who) => `Which tool does ${who} want us to avoid?`,
    values: ['Redis', 'Kafka', 'MongoDB', 'Lambda', 'Webpack', 'Jenkins'],
  },
  {
    tell: (who, what) => `The password hint of ${who} is the word ${what}, written backwards.`,
    ask: (who) => `What is the hint for the password of ${who}?`,
    values: ['walrus', 'marble', 'thistle', 'comet', 'velvet', 'ember'],
  },
]

const FILLER: readonly ((name: string, project: string) => string)[] = [
  (name) => `Thanks, ${name} will look at the tests tomorrow morning.`,
  (_name, project) => `I ran the build of ${project} again and it is green.`,
  (name, project) => `${name} left a comment on the pull request of ${project}; nothing serious.`,
  () => 'Let us take the second option and see how it behaves under load.',
  () => 'The log shows a timeout after thirty seconds, but only on the first request.',
  (_name, project) => `Can you rename the helper in ${project} and update the callers?`,
  (name) => `Remind ${name} about the meeting on Thursday, please.`,
  () => 'function add(a: number, b: number): number { return a + b }',
]

/** Returns numbers from 0 to 1 that follow from the seed (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Returns a conversation of so many turns with so many facts in it. */
export function conversation(seed: number, length: number, facts: number): PlantedConversation {
  const random = seeded(seed)
  const pick = <T>(list: readonly T[]): T => {
    const picked = list[Math.floor(random() * list.length)]
    if (picked === undefined) throw new RangeError('There is nothing to pick from.')
    return picked
  }
  const turns = Array.from({ length }, () => pick(FILLER)(pick(NAMES), pick(PROJECTS)))
  const subjects = [...NAMES, ...PROJECTS].flatMap((who) => KINDS.map((kind) => ({ who, kind })))
  const places = new Set<number>()
  const questions: PlantedQuestion[] = []
  while (questions.length < facts && subjects.length > 0) {
    const [subject] = subjects.splice(Math.floor(random() * subjects.length), 1)
    const evidence = Math.floor(random() * length)
    if (subject === undefined || places.has(evidence)) continue
    places.add(evidence)
    const { kind, who } = subject
    turns[evidence] = kind.tell(who, pick(kind.values))
    questions.push({ text: kind.ask(who), evidence })
  }
  return { turns, questions }
}
