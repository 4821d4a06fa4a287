export {
  Workspace,
  type WorkspaceOptions,
  type WorkspaceToolName,
  type WorkspaceToolsConfig,
} from './workspace/workspace.ts'
export type { Worktree, Worktrees, WorktreesOptions, WorktreeStatus } from './workspace/worktrees.ts'
export type { WorkspaceToolConfig } from './workspace/tool-kit.ts'
export type {
  WorkspaceFileContent,
  FileInfo,
  GrepOptions,
  ListedFile,
  ListOptions,
  Match,
  WorkspaceFiles,
  WriteOptions,
} from './workspace/files.ts'
export type { CommandExit, CommandOptions, RunningCommand, WorkspaceShell } from './workspace/shell.ts'
export type { LocalShellOptions } from './workspace/local-shell.ts'
export { checkConsumerTools, ConsumerTools } from './consumer/consumer-tools.ts'
export type { McpEvent } from './mcp/mcp-event.ts'
export { McpOAuth, type McpOAuthOptions } from './mcp/oauth.ts'
export { McpServers, type McpServersOptions } from './mcp/mcp-servers.ts'
export type { ChangedFile, Checkpoints, CheckpointOptions, RewindReport } from './checkpoints/checkpoints.ts'
export { SECRET_DETECTORS, type SecretDetector } from './redaction/detectors.ts'
export { redactSecrets, type RedactSecretsOptions, type SecretRedactor } from './redaction/redact-secrets.ts'
export { resolveLinks } from './resolve-links.ts'
export { loadRules, nearestAgentsFile, type RuleFile } from './rules/load-rules.ts'
export {
  checkToolSearch,
  SEARCH_TOOLS,
  searchableTools,
  unmatchedEntries,
  type AlwaysActive,
  type LoadedTools,
  type ToolSearchOptions,
} from './search/tool-search.ts'
export type { Skill } from './skills/load-skill.ts'
export { Skills, type SkillsOptions } from './skills/skills.ts'
export { TrustedFolders } from './trust/trusted-folders.ts'
export { serveTools } from './loopback/serve-tools.ts'
export type { ServedAccess, ServedCall, ServedTools } from './loopback/tool-server.ts'
export type { Browser, PageView } from './browser/browser.ts'
export { BrowserTools, type BrowserToolsOptions } from './browser/browser-tools.ts'
export { openPlaywright, type PlaywrightOptions } from './browser/open-playwright.ts'
