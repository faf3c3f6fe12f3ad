//! Sessions an editor can open again.

use std::sync::Arc;

use agent_client_protocol_schema::v1::{ListSessionsRequest, ListSessionsResponse, SessionInfo};
use base::Timestamp;
use base::protocol::{Query, Reply, SessionSummary};

use super::methods::refused;
use super::sessions::folder;
use super::{Shared, invalid};
use crate::rpc::Fault;

/// Sessions of one page.
const PAGE: usize = 100;
/// Most sessions that are looked through.
const LOOKED_THROUGH: usize = 5_000;

impl Shared {
    pub(super) async fn list_sessions(
        self: &Arc<Self>,
        asked: ListSessionsRequest,
    ) -> Result<ListSessionsResponse, Fault> {
        let place = asked.cwd.as_deref().map(folder).transpose()?;
        let door = self.door(&place.as_ref().unwrap_or(&self.outside.folder).as_path().into())?;
        let skipped = match asked.cursor {
            Some(cursor) => cursor.parse().map_err(|_| invalid("the cursor is not one of ours"))?,
            None => 0,
        };
        let shown = place.map(|place| place.display().to_string());
        let query = Query::Sessions { folder: shown.clone(), limit: LOOKED_THROUGH };
        let Reply::Sessions { sessions } = door.ask(query).await.map_err(refused)? else {
            return Ok(ListSessionsResponse::new(Vec::new()));
        };
        let fits =
            |session: &&SessionSummary| shown.as_ref().is_none_or(|it| *it == session.folder);
        let mut rest = sessions.iter().filter(fits).skip(skipped);
        let page: Vec<SessionInfo> = rest.by_ref().take(PAGE).map(listed).collect();
        let next = rest.next().map(|_| (skipped + PAGE).to_string());
        Ok(ListSessionsResponse::new(page).next_cursor(next))
    }
}

fn listed(session: &SessionSummary) -> SessionInfo {
    SessionInfo::new(session.id.to_string(), &session.folder)
        .title(session.title.clone())
        .updated_at(date(session.updated))
}

/// A moment as ISO 8601 writes it, in UTC.
fn date(at: Timestamp) -> String {
    jiff::Timestamp::from_second(at.as_millis().div_euclid(1000)).unwrap_or_default().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_as_iso_8601() {
        for (millis, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_827_696_000, "2000-02-29T12:34:56Z"),
            (1_794_851_999_999, "2026-11-16T17:59:59Z"),
            (-1, "1969-12-31T23:59:59Z"),
        ] {
            assert_eq!(date(Timestamp::from_millis(millis)), text);
        }
    }
}
