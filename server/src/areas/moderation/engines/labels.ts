import type { ErrorDetail } from '@parley/contract'
import type { App } from '../../../chat/identity.ts'
import type { Condition } from '../../../chat/moderation/model.ts'
import type { Context } from '../../../context.ts'

/** Whether a condition is about labels of pictures and videos, such as `violence_greaterThan_30`. */
export function needsLabels({ category, operand, isListed }: Condition): boolean {
  if (category === 'media') return true
  return (operand === 'image' || operand === 'video') && category === 'word' && !isListed
}

/** Why a rule with these conditions is refused: no engine is set that finds labels. Empty where nothing is wrong. */
export async function flawsOfEngines(
  { engineSettings }: Pick<Context, 'engineSettings'>,
  { appId }: App,
  conditions: readonly Condition[],
): Promise<ErrorDetail[]> {
  const { labels } = await engineSettings.of(appId)
  if (labels.url !== null) return []
  const message =
    'is about labels of pictures or videos, and the app has no engine for them: set one with PUT /moderation/engines/labels'
  return conditions.flatMap((condition, i) =>
    needsLabels(condition) ? [{ path: `body/conditions/${i}`, message }] : [],
  )
}
