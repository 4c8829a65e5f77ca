import { compileEngine, type Engine } from '../../../chat/moderation/engine/engine.ts'
import type { ListRevision, RuleRevision } from '../../../chat/moderation/model.ts'

/** A rule by itself, asked whatever its mode is. */
export function compileAlone(rule: RuleRevision, lists: readonly ListRevision[]): Promise<Engine> {
  return compileEngine([{ ...rule, mode: 'on' }], lists)
}
