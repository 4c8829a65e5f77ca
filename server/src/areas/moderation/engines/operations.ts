import * as contract from '@parley/contract'
import { type Route, serve } from '../../../call.ts'
import type { App } from '../../../chat/identity.ts'
import type { EngineName } from '../../../chat/moderation/engine-settings.ts'
import type { Context } from '../../../context.ts'
import { saveEngine, showCustomApi, showLabels, showLlm } from './settings.ts'

export const operations: readonly Route[] = [
  serve(contract.getModerationEngines, async ({ app }, { engineSettings }) => {
    const set = await engineSettings.of(app.appId)
    return {
      data: { customApi: showCustomApi(set['custom-api']), llm: showLlm(set.llm), labels: showLabels(set.labels) },
    }
  }),

  serve(contract.updateCustomApiEngine, async ({ app, body }, context) => {
    return { data: showCustomApi(await saveEngine(context, app, 'custom-api', body)) }
  }),

  serve(contract.updateLlmEngine, async ({ app, body }, context) => {
    return { data: showLlm(await saveEngine(context, app, 'llm', body)) }
  }),

  serve(contract.deleteLlmEngine, async ({ app }, context) => ({ data: await forget(context, app, 'llm') })),

  serve(contract.updateLabelsEngine, async ({ app, body }, context) => {
    return { data: showLabels(await saveEngine(context, app, 'labels', body)) }
  }),

  serve(contract.deleteLabelsEngine, async ({ app }, context) => ({ data: await forget(context, app, 'labels') })),
]

async function forget({ engineSettings, audit }: Context, app: App, engine: EngineName) {
  const wasThere = await engineSettings.remove(app, engine, audit)
  return { success: true, message: wasThere ? `engine ${engine} removed` : `engine ${engine} was not set` }
}
