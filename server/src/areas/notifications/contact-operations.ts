import * as contract from '@parley/contract'
import { serve } from '../../call.ts'
import {
  changeContacts,
  listUnsubscriptions,
  readContacts,
  removeContacts,
  removeUnsubscriptionsOf,
} from './contacts.ts'

const done = { data: { success: true } } as const

/** Where users are reached by e-mail and SMS, and what of it they do not want. */
export const operations = [
  serve(contract.getContactDetails, async ({ app, actor }, { database }) => {
    return { data: await readContacts(database, app.appId, actor.uid) }
  }),

  serve(contract.updateContactDetails, async ({ app, actor, body }, context) => {
    return { data: await changeContacts(context, app.appId, actor.uid, body) }
  }),

  serve(contract.deleteContactDetails, async ({ app, actor }, context) => {
    await removeContacts(context, app.appId, actor.uid)
    return done
  }),

  serve(contract.listUnsubscriptions, async ({ app, actor }, { database }) => {
    return { data: { unsubscriptions: await listUnsubscriptions(database, app.appId, actor.uid) } }
  }),

  serve(contract.deleteUnsubscriptions, async ({ app, actor, query }, { database }) => {
    await removeUnsubscriptionsOf(database, app.appId, actor.uid, query.channel)
    return done
  }),
]
