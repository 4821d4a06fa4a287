import { NO_GRANTS, type Grants, type PermissionRules, type Policy, type ToolCategory } from '@inspan/protocol'
import { effectiveRules } from '../../policy/effective-rules.ts'
import { givenFields, givenFlag, givenOneOf, givenText } from '../checks/check-given.ts'
import type { HarnessCore } from '../harness-core.ts'
import type { SessionBinding } from './session-binding.ts'
import type { SessionDefaults } from './session-defaults.ts'
import type { KeepWithSession } from './session-log.ts'
import type { SessionRules } from './session-rules.ts'

const POLICIES: readonly Policy[] = ['allow', 'ask', 'deny']
const CATEGORIES: readonly ToolCategory[] = ['read', 'edit', 'execute', 'mcp', 'other']

/** The rules of a session. They hold from the call on and are also written to its thread, where they are durable. */
export class SessionPermissions {
  readonly #core: HarnessCore
  readonly #binding: SessionBinding
  readonly #defaults: SessionDefaults
  readonly #rules: SessionRules

  constructor(core: HarnessCore, binding: SessionBinding, defaults: SessionDefaults, rules: SessionRules) {
    this.#core = core
    this.#binding = binding
    this.#defaults = defaults
    this.#rules = rules
  }

  /**
   * Returns the rules that were set: those of the harness, the session and the thread together. Any deny wins. Built-in
   * tools need no approval without a rule.
   */
  getRules(): PermissionRules {
    const { head } = this.#binding
    return effectiveRules({
      harness: this.#core.givenRules,
      session: this.#rules.own,
      ...(head === undefined ? {} : { thread: head.rules }),
    })
  }

  async setForCategory(options: { readonly category: ToolCategory; readonly policy: Policy }): Promise<void> {
    const { category, policy } = givenFields(options, 'permissions.setForCategory({ category, policy })')
    givenOneOf(category, 'category', CATEGORIES)
    givenOneOf(policy, 'policy', POLICIES)
    await this.#rules.change((rules) => ({ ...rules, categories: { ...rules.categories, [category]: policy } }))
  }

  async setForTool(options: { readonly toolName: string; readonly policy: Policy }): Promise<void> {
    const { policy, toolName } = givenFields(options, 'permissions.setForTool({ toolName, policy })')
    givenText(toolName, 'toolName')
    givenOneOf(policy, 'policy', POLICIES)
    await this.#rules.change((rules) => ({ ...rules, tools: { ...rules.tools, [toolName]: policy } }))
  }

  /** True when every call that no rule denies goes ahead without approval. */
  isYolo(): boolean {
    return this.#binding.head?.yolo ?? this.#defaults.yolo
  }

  async setYolo(options: { readonly enabled: boolean }): Promise<void> {
    const { enabled } = givenFields(options, 'permissions.setYolo({ enabled })')
    const { runtime } = this.#binding
    const yolo = givenFlag(enabled, 'enabled')
    await Promise.all([this.#defaults.choose({ yolo }), runtime?.configure({ yolo })])
  }
}

/** The grants of a session: permissions given in answer to a wait. Weaker than any rule. */
export class SessionGrants {
  readonly #binding: SessionBinding
  #own: Grants
  readonly #keep: KeepWithSession

  /** `kept`: the grants recorded by an earlier process. */
  constructor(binding: SessionBinding, keep: KeepWithSession, kept: Grants = NO_GRANTS) {
    this.#binding = binding
    this.#keep = keep
    this.#own = kept
  }

  async grantCategory(category: ToolCategory): Promise<void> {
    const { categories, tools } = this.#own
    this.#own = { categories: withOne(categories, givenOneOf(category, 'category', CATEGORIES)), tools }
    await this.#keep({ grants: this.#own })
  }

  async grantTool(toolName: string): Promise<void> {
    const { categories, tools } = this.#own
    this.#own = { categories, tools: withOne(tools, givenText(toolName, 'toolName')) }
    await this.#keep({ grants: this.#own })
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
    const thread = this.#binding.head?.grants ?? NO_GRANTS
    return {
      categories: thread.categories.reduce(withOne, this.#own.categories),
      tools: thread.tools.reduce(withOne, this.#own.tools),
    }
  }
}

function withOne<Granted>(all: readonly Granted[], one: Granted): readonly Granted[] {
  return all.includes(one) ? all : [...all, one]
}
