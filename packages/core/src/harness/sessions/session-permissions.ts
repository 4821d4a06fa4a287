import { NO_GRANTS, type Grants, type PermissionRules, type Policy, type ToolCategory } from '@inspan/protocol'
import { effectiveRules } from '../../policy/effective-rules.ts'
import { aFlag, aText, oneOf } from '@inspan/protocol/internal'
import { checkGiven, givenFields } from '../checks/check-given.ts'
import type { SessionContext } from './session-context.ts'

const aPolicy = oneOf('allow', 'ask', 'deny')
const aCategory = oneOf('read', 'edit', 'execute', 'mcp', 'other')

/** The rules of a session. They hold from the call on and are also written to its thread, where they are durable. */
export class SessionPermissions {
  readonly #session: SessionContext

  constructor(session: SessionContext) {
    this.#session = session
  }

  /**
   * Returns the rules that were set: those of the harness, the session and the thread together. Any deny wins. Built-in
   * tools need no approval without a rule.
   */
  getRules(): PermissionRules {
    const { head } = this.#session.binding
    return effectiveRules({
      harness: this.#session.core.givenRules,
      session: this.#session.rules.own,
      ...(head === undefined ? {} : { thread: head.rules }),
    })
  }

  async setForCategory(options: { readonly category: ToolCategory; readonly policy: Policy }): Promise<void> {
    const call = 'permissions.setForCategory({ category, policy })'
    const { category, policy } = givenFields(options, call, { category: aCategory, policy: aPolicy })
    await this.#session.rules.change((rules) => ({ ...rules, categories: { ...rules.categories, [category]: policy } }))
  }

  async setForTool(options: { readonly toolName: string; readonly policy: Policy }): Promise<void> {
    const call = 'permissions.setForTool({ toolName, policy })'
    const { policy, toolName } = givenFields(options, call, { toolName: aText, policy: aPolicy })
    await this.#session.rules.change((rules) => ({ ...rules, tools: { ...rules.tools, [toolName]: policy } }))
  }

  /** True when every call that no rule denies goes ahead without approval. */
  isYolo(): boolean {
    return this.#session.binding.head?.yolo ?? this.#session.defaults.yolo
  }

  async setYolo(options: { readonly enabled: boolean }): Promise<void> {
    const { enabled: yolo } = givenFields(options, 'permissions.setYolo({ enabled })', { enabled: aFlag })
    const { binding, defaults } = this.#session
    await Promise.all([defaults.choose({ yolo }), binding.runtime?.configure({ yolo })])
  }
}

/** The grants of a session: permissions given in answer to a wait. Weaker than any rule. */
export class SessionGrants {
  readonly #session: SessionContext
  #own: Grants

  constructor(session: SessionContext) {
    this.#session = session
    this.#own = session.log?.head.grants ?? NO_GRANTS
  }

  async grantCategory(category: ToolCategory): Promise<void> {
    checkGiven(category, 'category', aCategory)
    this.#own = { ...this.#own, categories: withOne(this.#own.categories, category) }
    await this.#session.keep({ grants: this.#own })
  }

  async grantTool(toolName: string): Promise<void> {
    checkGiven(toolName, 'toolName', aText)
    this.#own = { ...this.#own, tools: withOne(this.#own.tools, toolName) }
    await this.#session.keep({ grants: this.#own })
  }

  hasCategory(category: ToolCategory): boolean {
    return this.get().categories.includes(category)
  }

  hasTool(toolName: string): boolean {
    return this.get().tools.includes(toolName)
  }

  /** The grants of the session alone. */
  get own(): Grants {
    return this.#own
  }

  /** Returns the grants of the session and of its thread. */
  get(): Grants {
    const thread = this.#session.binding.head?.grants ?? NO_GRANTS
    return {
      categories: thread.categories.reduce(withOne, this.#own.categories),
      tools: thread.tools.reduce(withOne, this.#own.tools),
    }
  }
}

function withOne<Granted>(all: readonly Granted[], one: Granted): readonly Granted[] {
  return all.includes(one) ? all : [...all, one]
}
