import {
  NO_GRANTS,
  NO_RULES,
  type Grants,
  type PermissionRules,
  type Policy,
  type ToolCategory,
} from '@evener/protocol'
import type { Mailbox } from '../engine/mailbox.ts'
import { effectiveRules } from '../policy/effective-rules.ts'
import { givenFields, givenFlag, givenOneOf, givenText } from './check-given.ts'
import type { HarnessCore } from './harness-core.ts'
import type { SessionBinding } from './session-binding.ts'
import type { SessionDefaults } from './session-defaults.ts'
import type { KeepWithSession } from './session-log.ts'

const POLICIES: readonly Policy[] = ['allow', 'ask', 'deny']
const CATEGORIES: readonly ToolCategory[] = ['read', 'edit', 'execute', 'mcp', 'other']

/** The rules of a session. They hold from the call on and are written to its thread, where they survive everything. */
export class SessionPermissions {
  readonly #core: HarnessCore
  readonly #binding: SessionBinding
  readonly #defaults: SessionDefaults
  readonly #keep: KeepWithSession
  readonly #turns: Mailbox
  #rules: PermissionRules = NO_RULES
  /** Set while there was no thread to write them to. */
  #unwritten: PermissionRules = NO_RULES

  /** `turns`: those in which the session goes from thread to thread, so that it is clear which one a rule is written to. */
  constructor(
    core: HarnessCore,
    binding: SessionBinding,
    defaults: SessionDefaults,
    keep: KeepWithSession,
    turns: Mailbox,
  ) {
    this.#core = core
    this.#binding = binding
    this.#defaults = defaults
    this.#keep = keep
    this.#turns = turns
  }

  /** As an earlier process left them. */
  restore(rules: PermissionRules): void {
    this.#rules = rules
  }

  /** What the session itself has said. */
  get own(): PermissionRules {
    return this.#rules
  }

  /** The rules of a thread with what the session has to write there; `isNew`: with all that holds in it. */
  forThread(rules: PermissionRules, { isNew }: { readonly isNew: boolean }): PermissionRules {
    return effectiveRules({ session: isNew ? this.#rules : this.#unwritten, thread: rules })
  }

  /** A thread has got them. */
  written(): void {
    this.#unwritten = NO_RULES
  }

  /** What is in force: the harness's, the session's and the thread's rules together, any deny first. */
  getRules(): PermissionRules {
    const { head } = this.#binding
    return this.#core.policy.rulesInForce({
      session: this.#rules,
      ...(head === undefined ? {} : { thread: head.rules }),
    })
  }

  async setForCategory(options: { readonly category: ToolCategory; readonly policy: Policy }): Promise<void> {
    const { category, policy } = givenFields(options, 'permissions.setForCategory({ category, policy })')
    givenOneOf(category, 'category', CATEGORIES)
    givenOneOf(policy, 'policy', POLICIES)
    await this.#add((rules) => ({ ...rules, categories: { ...rules.categories, [category]: policy } }))
  }

  async setForTool(options: { readonly toolName: string; readonly policy: Policy }): Promise<void> {
    const { policy, toolName } = givenFields(options, 'permissions.setForTool({ toolName, policy })')
    givenText(toolName, 'toolName')
    givenOneOf(policy, 'policy', POLICIES)
    await this.#add((rules) => ({ ...rules, tools: { ...rules.tools, [toolName]: policy } }))
  }

  /** Everything that no rule denies goes ahead unasked. */
  isYolo(): boolean {
    return this.#binding.head?.yolo ?? this.#defaults.yolo
  }

  async setYolo(options: { readonly enabled: boolean }): Promise<void> {
    const { enabled } = givenFields(options, 'permissions.setYolo({ enabled })')
    const { runtime } = this.#binding
    const yolo = givenFlag(enabled, 'enabled')
    await Promise.all([this.#defaults.choose({ yolo }), runtime?.configure({ yolo })])
  }

  async #add(change: (rules: PermissionRules) => PermissionRules): Promise<void> {
    const next = change(this.#rules)
    this.#core.policy.check(next)
    this.#rules = next
    await Promise.all([this.#keep({ rules: next }), this.#turns.post(() => this.#write(change))])
  }

  async #write(change: (rules: PermissionRules) => PermissionRules): Promise<void> {
    const { lastRuntime } = this.#binding
    if (lastRuntime === undefined) this.#unwritten = change(this.#unwritten)
    else await lastRuntime.configure({ rules: change(lastRuntime.state.head.rules) })
  }
}

/** What was granted in answer to a question. Weaker than any rule. */
export class SessionGrants {
  readonly #binding: SessionBinding
  readonly #categories = new Set<ToolCategory>()
  readonly #tools = new Set<string>()
  readonly #keep: KeepWithSession

  constructor(binding: SessionBinding, keep: KeepWithSession) {
    this.#binding = binding
    this.#keep = keep
  }

  restore({ categories, tools }: Grants): void {
    for (const category of categories) this.#categories.add(category)
    for (const tool of tools) this.#tools.add(tool)
  }

  async grantCategory(category: ToolCategory): Promise<void> {
    this.#categories.add(givenOneOf(category, 'category', CATEGORIES))
    await this.#keep({ grants: this.own })
  }

  async grantTool(toolName: string): Promise<void> {
    this.#tools.add(givenText(toolName, 'toolName'))
    await this.#keep({ grants: this.own })
  }

  hasCategory(category: ToolCategory): boolean {
    return this.get().categories.includes(category)
  }

  hasTool(toolName: string): boolean {
    return this.get().tools.includes(toolName)
  }

  /** Of the session alone. */
  get own(): Grants {
    return { categories: [...this.#categories], tools: [...this.#tools] }
  }

  /** Those of the session and of its thread. */
  get(): Grants {
    const thread = this.#binding.head?.grants ?? NO_GRANTS
    return {
      categories: [...new Set([...this.#categories, ...thread.categories])],
      tools: [...new Set([...this.#tools, ...thread.tools])],
    }
  }
}
