"""An application that does nothing, which is the most that a server of FastAPI and uvicorn can be asked to do."""

from fastapi import FastAPI

app = FastAPI()


@app.post("/nothing")
async def nothing() -> dict[str, str]:
    return {}
