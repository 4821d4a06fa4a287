export type WorkspaceStatus = 'pending' | 'initializing' | 'ready' | 'paused' | 'error' | 'destroying' | 'destroyed'

export interface WorkspaceStatusChangedEvent {
  readonly type: 'workspace_status_changed'
  readonly status: WorkspaceStatus
  readonly error?: Error
}

export interface WorkspaceReadyEvent {
  readonly type: 'workspace_ready'
  readonly workspaceId: string
  readonly workspaceName: string
}

export interface WorkspaceErrorEvent {
  readonly type: 'workspace_error'
  readonly error: Error
}

export type WorkspaceEvent = WorkspaceStatusChangedEvent | WorkspaceReadyEvent | WorkspaceErrorEvent
