import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { loadRules, nearestAgentsFile, Skills, TrustedFolders, type RuleFile } from '@inspan/tools'
import type { HarnessConfig, HarnessProject } from '../harness-config.ts'

/** What the files of a project and a configuration tell agents. */
export interface ProjectFiles {
  readonly rules?: readonly RuleFile[]
  readonly agentsFile?: RuleFile
  readonly skills?: Skills
}

/** Reads rules, AGENTS.md and the descriptions of skills. What a project brings along is read only if it is trusted. */
export async function loadProjectFiles(
  { project, rules = [], skills = [], skillSearch = false }: HarnessConfig,
  report: (problem: string) => void,
): Promise<ProjectFiles> {
  const root = project?.folder ?? process.cwd()
  const top = project === undefined ? undefined : await trustedTop(project)
  const isTrusted = top !== undefined
  if (project !== undefined && !isTrusted && (await offersFiles(project.folder))) {
    report(
      `${project.folder} is not trusted, so its AGENTS.md and skills are not used. "inspan trust" trusts a folder.`,
    )
  }
  const agentsFile = top === undefined ? undefined : await nearestAgentsFile(root, top)
  const wantsSkills = skills.length > 0 || isTrusted
  return {
    ...(rules.length === 0 ? {} : { rules: await loadRules(rules, root) }),
    ...(agentsFile === undefined ? {} : { agentsFile }),
    ...(wantsSkills
      ? {
          skills: await Skills.load({
            paths: skills,
            root,
            search: skillSearch,
            onProblem: report,
            ...(isTrusted ? { project: root } : {}),
          }),
        }
      : {}),
  }
}

/** Whether a project has anything that would be read if it were trusted. Only looks whether it is there. */
async function offersFiles(folder: string): Promise<boolean> {
  const found = await Promise.all(
    ['AGENTS.md', '.agents/skills', '.claude/skills'].map((name) =>
      stat(join(folder, name)).then(
        () => true,
        () => false,
      ),
    ),
  )
  return found.includes(true)
}

/** Returns the folder up to which the project may be read; `undefined` if it is not trusted. */
async function trustedTop({ folder, trust = new TrustedFolders() }: HarnessProject): Promise<string | undefined> {
  return trust === true ? folder : trust.covering(folder)
}
