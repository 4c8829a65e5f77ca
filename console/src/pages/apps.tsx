import { Anchor } from '@mantine/core'
import type { AdminResult } from '@parley/client'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { admin } from '../api.ts'
import { useApps } from '../shell/Frame.tsx'
import { useCan } from '../shell/session.tsx'
import { useSave } from '../ui/act.tsx'
import { AppButtons, AppState } from '../ui/app-state.tsx'
import { type Field, FormButton, type Values } from '../ui/Form.tsx'
import { Page, Time } from '../ui/page.tsx'
import { SearchedTable } from '../ui/SearchedTable.tsx'
import { Secret } from '../ui/Secret.tsx'
import { Loaded } from '../ui/states.tsx'

type App = AdminResult<'GET /apps'>[number]

/** The apps of the deployment that the operator has to do with. */
export function Apps() {
  const apps = useApps()
  const can = useCan()
  const save = useSave()
  const [made, setMade] = useState<AdminResult<'POST /apps'>>()
  const create = async (values: Values) => {
    const run = () => admin('POST /apps', values as never)
    setMade(await save({ run, done: 'The app was created', refresh: [['apps']] }))
  }
  const fields: readonly Field[] = [
    { name: 'appId', label: 'App ID', hint: 'Letters, digits, - and _', required: true, max: 100 },
    {
      name: 'region',
      label: 'Region',
      kind: 'choice',
      options: ['us', 'eu', 'in'],
      hint: 'What clients put into host names',
    },
  ]
  return (
    <Page
      title="Apps"
      hint="Each app has users, groups, messages, settings and keys of its own."
      actions={
        can('apps') && <FormButton button="Create an app" title="Create an app" fields={fields} onSubmit={create} />
      }
    >
      {made !== undefined && (
        <Secret label={`API key of ${made.appId} (fullAccess)`} value={made.apiKey} onDone={() => setMade(undefined)} />
      )}
      <Loaded query={apps}>
        {(apps) => (
          <SearchedTable
            label="Apps"
            name="q"
            textOf={({ appId, region }) => `${appId} ${region}`}
            rows={apps}
            idOf={(app) => app.appId}
            empty="There is no app that you look after."
            columns={[
              {
                label: 'App ID',
                cell: ({ appId }) => (
                  <Anchor component={Link} to={`/apps/${encodeURIComponent(appId)}`} size="sm">
                    {appId}
                  </Anchor>
                ),
              },
              { label: 'Region', cell: (app) => app.region },
              { label: 'Created', cell: (app) => <Time at={app.createdAt} /> },
              { label: 'State', cell: (app) => <AppState app={app} /> },
              ...(can('configure') || can('apps')
                ? [{ label: 'Actions', cell: (app: App) => <AppButtons app={app} mayDelete /> }]
                : []),
            ]}
          />
        )}
      </Loaded>
    </Page>
  )
}
