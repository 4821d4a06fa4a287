/** What was selected from a state, and by which selector. */
export interface Kept<State, Selected> {
  readonly state: State
  readonly select: (state: State) => Selected
  readonly selected: Selected
}

/**
 * Selects from a state. The result is the one before as long as the selected part did not change. Another selector
 * selects anew: it may depend on a property of its component, such as the id of a message.
 */
export function selected<State, Selected>(
  state: State,
  select: (state: State) => Selected,
  last: Kept<State, Selected> | undefined,
): Kept<State, Selected> {
  if (last?.state === state && last.select === select) return last
  const next = select(state)
  return { state, select, selected: last !== undefined && isEqual(last.selected, next) ? last.selected : next }
}

/** Also true for two lists or objects whose entries are the same: selectors often build a new one around them. */
function isEqual(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false
  if (Object.getPrototypeOf(one) !== Object.getPrototypeOf(other)) return false
  const [a, b] = [one as Record<string, unknown>, other as Record<string, unknown>]
  const keys = Object.keys(a)
  return (
    keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && Object.is(a[key], b[key]))
  )
}
