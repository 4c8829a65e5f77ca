import {
  acceptInvitation,
  awaitChanges,
  beginLink,
  beginProviderSignIn,
  beginTotp,
  changePassword,
  confirmLink,
  confirmTotp,
  createApp,
  createToken,
  deleteApp,
  deleteOperator,
  deleteToken,
  endLink,
  endSession,
  endTotp,
  finishProviderSignIn,
  getApp,
  getOwnSession,
  getSignInProvider,
  invite,
  listApps,
  listInvitations,
  listOperatorAuditLog,
  listOperators,
  listReadings,
  listSessions,
  listTokens,
  openReading,
  pauseApp,
  resumeApp,
  setUpOwner,
  signIn,
  signOut,
  undeleteApp,
  updateOperator,
  withdrawInvitation,
} from '@parley/contract'
import { deployment } from '../../chat/audit/audit.ts'
import type { Context } from '../../context.ts'
import { pauseApp as pause, deleteApp as remove, resumeApp as resume, undeleteApp as takeBack } from '../apps/index.ts'
import { listEntries } from '../audit-log/index.ts'
import {
  beginOwnTotp,
  changeOwnPassword,
  confirmOwnTotp,
  createOwnToken,
  deleteOwnToken,
  endOwnSession,
  endOwnTotp,
  listOwnSessions,
  listOwnTokens,
} from './account.ts'
import type { Operator } from './accounts.ts'
import { createOwnApp, listOwnApps, showOwnApp } from './apps.ts'
import { type AdminCall, type AdminRoute, serveAdmin } from './call.ts'
import {
  changeAccount,
  createInvitation,
  deleteAccount,
  listAccounts,
  listOpenInvitations,
  removeInvitation,
} from './manage.ts'
import {
  type Answer,
  attemptSeconds,
  beginOwnLink,
  beginSignIn,
  confirmOwnLink,
  endOwnLink,
  finishSignIn,
} from './provider-sign-in.ts'
import { listOwnReadings, openOwnReading } from './readings.ts'
import { endSessionById } from './sessions.ts'
import {
  claimInvitation,
  claimSetup,
  openSession,
  type Proof,
  readAppNames,
  showMe,
  signInByPassword,
} from './sign-in.ts'

const done = { data: { success: true as const } }

/** Gives the browser of somebody who has shown who they are a session. */
async function begin(
  context: Context,
  { cookie, from }: Pick<AdminCall<typeof signIn>, 'cookie' | 'from'>,
  who: Operator,
  proof?: Proof,
) {
  const { operator, cookie: value } = await openSession(context, who, from, proof)
  cookie.set(value)
  return { data: showMe(operator, await readAppNames(context.database, operator.apps ?? [])) }
}

/** Sends the browser to the page of the provider, and gives it the cookie by which it is known when it is back. */
async function leadAway(
  { signInCookie }: Pick<AdminCall<typeof beginLink>, 'signInCookie'>,
  begun: Promise<{ address: string; browser: string }>,
) {
  const { address, browser } = await begun
  signInCookie.set(browser, attemptSeconds)
  return { data: { address } }
}

/** What the browser is back with. The cookie has done its work, however this ends. */
function takeAnswer({
  body,
  signInCookie,
}: Pick<AdminCall<typeof finishProviderSignIn>, 'body' | 'signInCookie'>): Answer {
  const browser = signInCookie.get()
  signInCookie.clear()
  return { ...body, browser }
}

export const operations: readonly AdminRoute[] = [
  serveAdmin(setUpOwner, async (call, context) => {
    const { token, ...account } = call.body
    return begin(context, call, await claimSetup(context, token, account))
  }),
  serveAdmin(acceptInvitation, async (call, context) => {
    const { token, ...account } = call.body
    return begin(context, call, await claimInvitation(context, token, account))
  }),
  serveAdmin(signIn, async (call, context) => {
    // Also on a private network, whoever guesses is not everybody.
    const { operator, password } = await signInByPassword(context, call.body, call.client ?? call.address)
    return begin(context, call, operator, { password })
  }),
  serveAdmin(getSignInProvider, async (_, { signInProvider }) => ({
    data: signInProvider === undefined ? {} : { issuer: signInProvider.issuer, name: signInProvider.name },
  })),
  serveAdmin(beginProviderSignIn, async (call, context) =>
    leadAway(call, beginSignIn(context, call, call.body.returnTo)),
  ),
  serveAdmin(finishProviderSignIn, async (call, context) => {
    const { operator, issuer, returnTo } = await finishSignIn(context, takeAnswer(call), call.client)
    const { data } = await begin(context, call, operator, { issuer })
    return { data: { ...data, ...(returnTo !== null && { returnTo }) } }
  }),
  serveAdmin(getOwnSession, async ({ operator }, { database }) => {
    return { data: showMe(operator, await readAppNames(database, operator.apps ?? [])) }
  }),
  serveAdmin(signOut, async ({ operator, cookie }, context) => {
    await endSessionById(context, operator)
    cookie.clear()
    return done
  }),

  serveAdmin(listSessions, async ({ operator }, context) => ({ data: await listOwnSessions(context, operator) })),
  serveAdmin(endSession, async ({ operator, params }, context) => {
    await endOwnSession(context, operator, params.id)
    return done
  }),
  serveAdmin(changePassword, async ({ operator, body }, context) => {
    await changeOwnPassword(context, operator, body)
    return done
  }),
  serveAdmin(beginTotp, async ({ operator, body }, context) => ({
    data: await beginOwnTotp(context, operator, body.password),
  })),
  serveAdmin(confirmTotp, async ({ operator, body }, context) => {
    await confirmOwnTotp(context, operator, body.code)
    return done
  }),
  serveAdmin(endTotp, async ({ operator, body }, context) => {
    await endOwnTotp(context, operator, body.password)
    return done
  }),
  serveAdmin(beginLink, async (call, context) =>
    leadAway(call, beginOwnLink(context, call.operator, call.body.password, call)),
  ),
  serveAdmin(confirmLink, async (call, context) => {
    await confirmOwnLink(context, call.operator, takeAnswer(call), call.client)
    return done
  }),
  serveAdmin(endLink, async ({ operator, body }, context) => {
    await endOwnLink(context, operator, body.password)
    return done
  }),
  serveAdmin(listTokens, async ({ operator }, context) => ({
    data: await listOwnTokens(context, operator, await readAppNames(context.database)),
  })),
  serveAdmin(createToken, async ({ operator, body }, context) => ({
    data: await createOwnToken(context, operator, body, await readAppNames(context.database)),
  })),
  serveAdmin(deleteToken, async ({ operator, params }, context) => {
    await deleteOwnToken(context, operator, params.id)
    return done
  }),

  serveAdmin(listOperators, async (_, context) => ({
    data: await listAccounts(context, await readAppNames(context.database)),
  })),
  serveAdmin(updateOperator, async ({ operator, params, body }, context) => ({
    data: await changeAccount(context, operator, params.id, body, await readAppNames(context.database)),
  })),
  serveAdmin(deleteOperator, async ({ params }, context) => {
    await deleteAccount(context, params.id)
    return done
  }),
  serveAdmin(listInvitations, async (_, context) => ({
    data: await listOpenInvitations(context, await readAppNames(context.database)),
  })),
  serveAdmin(invite, async ({ operator, body }, context) => ({
    data: await createInvitation(context, operator, body, await readAppNames(context.database)),
  })),
  serveAdmin(withdrawInvitation, async ({ params }, context) => {
    await removeInvitation(context, params.id)
    return done
  }),

  serveAdmin(listApps, ({ operator, query }, context) => listOwnApps(context, operator, query)),
  serveAdmin(createApp, async ({ body }, context) => {
    const region = body.region ?? context.config.region
    return { data: await createOwnApp(context, { appId: body.appId, region }) }
  }),
  serveAdmin(getApp, async ({ app }, context) => ({ data: await showOwnApp(context, app) })),
  serveAdmin(pauseApp, async ({ app }, context) => {
    await pause(context, app)
    return { data: await showOwnApp(context, app) }
  }),
  serveAdmin(resumeApp, async ({ app }, context) => {
    await resume(context, app)
    return { data: await showOwnApp(context, app) }
  }),
  serveAdmin(deleteApp, async ({ app, body }, context) => {
    await remove(context, app, body.name)
    return { data: await showOwnApp(context, app) }
  }),
  serveAdmin(undeleteApp, async ({ app }, context) => {
    await takeBack(context, app)
    return { data: await showOwnApp(context, app) }
  }),
  serveAdmin(openReading, async ({ operator, app, body }, context) => ({
    data: await openOwnReading(context, app, operator, body),
  })),
  serveAdmin(listReadings, async ({ operator, app }, context) => ({
    data: await listOwnReadings(context, app, operator),
  })),
  serveAdmin(awaitChanges, async ({ operator, app, query: { wait = 0, conversationId } }, { changes }) => {
    const wanted = { appId: app.appId, conversation: conversationId?.toLowerCase(), operator: operator.account.id }
    return { data: { happened: await changes.wait(wanted, wait) } }
  }),
  serveAdmin(listOperatorAuditLog, ({ query }, { database }) => listEntries(database, deployment, query)),
]
