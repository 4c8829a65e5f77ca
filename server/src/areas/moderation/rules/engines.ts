import type { ErrorDetail, RuleCondition } from '@parley/contract'
import type { App } from '../../../chat/identity.ts'
import { conditionOf } from '../../../chat/moderation/rules.ts'
import type { Context } from '../../../context.ts'
import { flawsOfEngines } from '../engines/index.ts'

/** What is wrong with conditions that need an engine outside, where the app has set none. Lists of addresses are their own. */
export async function missingEngines(
  context: Pick<Context, 'engineSettings'>,
  app: App,
  conditions: readonly RuleCondition[],
): Promise<ErrorDetail[]> {
  const flaws = await flawsOfEngines(context, app, conditions.map(conditionOf))
  const { llm } = await context.engineSettings.of(app.appId)
  if (llm.url !== null) return flaws
  const message = 'asks a language model, and the app has none: set one with PUT /moderation/engines/llm'
  return [
    ...flaws,
    ...conditions.flatMap(({ category }, index) =>
      category === 'prompt' ? [{ path: `body/conditions/${index}`, message }] : [],
    ),
  ]
}
