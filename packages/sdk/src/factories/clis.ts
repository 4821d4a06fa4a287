import {
  acp,
  antigravity,
  claudeCode,
  cline,
  codex,
  goose,
  kiloCode,
  opencode,
  pi,
  type AcpOptions,
  type AntigravityOptions,
  type ClaudeCodeAgentOptions,
  type ClineAgentOptions,
  type CodexAgentOptions,
  type GooseAgentOptions,
  type OpencodeAgentOptions,
  type PiAgentOptions,
} from '@inspan/adapters'
import { CliHarnessFactory, type CliHarnessOptions } from './cli-factory.ts'

/** Programs for many providers call a model `provider/model`, as we do. */
const modelName = ({ id }: { readonly id: string }): string => id

/** Agents of Claude Code. */
export class ClaudeCodeHarnessFactory extends CliHarnessFactory<ClaudeCodeAgentOptions> {
  constructor(options: CliHarnessOptions<ClaudeCodeAgentOptions> = {}) {
    super({ id: 'claude-code', make: claudeCode }, options)
  }
}

/** Agents of Codex. */
export class CodexHarnessFactory extends CliHarnessFactory<CodexAgentOptions> {
  constructor(options: CliHarnessOptions<CodexAgentOptions> = {}) {
    super({ id: 'codex', make: codex }, options)
  }
}

/** Agents of Cline. */
export class ClineHarnessFactory extends CliHarnessFactory<ClineAgentOptions> {
  constructor(options: CliHarnessOptions<ClineAgentOptions> = {}) {
    super({ id: 'cline', make: cline }, options)
  }
}

/** Agents of Goose. */
export class GooseHarnessFactory extends CliHarnessFactory<GooseAgentOptions> {
  constructor(options: CliHarnessOptions<GooseAgentOptions> = {}) {
    super({ id: 'goose', make: goose }, options)
  }
}

/** Agents of Kilo Code. */
export class KiloCodeHarnessFactory extends CliHarnessFactory<OpencodeAgentOptions> {
  constructor(options: CliHarnessOptions<OpencodeAgentOptions> = {}) {
    super({ id: 'kilo-code', make: kiloCode, modelName }, options)
  }
}

/** Agents of OpenCode. */
export class OpencodeHarnessFactory extends CliHarnessFactory<OpencodeAgentOptions> {
  constructor(options: CliHarnessOptions<OpencodeAgentOptions> = {}) {
    super({ id: 'opencode', make: opencode, modelName }, options)
  }
}

/** Agents of Pi. */
export class PiHarnessFactory extends CliHarnessFactory<PiAgentOptions> {
  constructor(options: CliHarnessOptions<PiAgentOptions> = {}) {
    super({ id: 'pi', make: pi, modelName }, options)
  }
}

/** Agents of Antigravity, which can be given a task and nothing else. */
export class AntigravityHarnessFactory extends CliHarnessFactory<AntigravityOptions> {
  constructor(options: CliHarnessOptions<AntigravityOptions> = {}) {
    super({ id: 'antigravity', make: antigravity }, options)
  }
}

/** Agents of any program that speaks the Agent Client Protocol. */
export class AcpHarnessFactory extends CliHarnessFactory<AcpOptions> {
  constructor(options: CliHarnessOptions<AcpOptions>) {
    super({ id: 'acp', make: acp }, options)
  }
}
